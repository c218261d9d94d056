"""Reading what came out of the sandbox that read the stores, and comparing it with the views that were recorded.

Both sides are of hostile origin. Invariant: nothing here raises for any bytes; what is malformed is no answer, or a
difference, and is told in words of ours.
"""

from __future__ import annotations

import datetime as dt
import hmac
import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from analysis.report.layout import clean
from memory_probe.protocol import State

_SHOWN = 40  # characters of each side that a message shows


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


#: Bounded, because an integer of any length may be written, and not every one can be printed.
_Count = Annotated[int, Field(ge=0, le=10**9)]


class _Scope(_Strict):
    files: tuple[str, ...]
    symbols: tuple[str, ...]
    task: str


class _Item(_Strict):
    text: str
    date: dt.date | None
    type: str | None
    scope: _Scope
    state: State | None
    successor: _Count | None
    provenance: str | None


class _Rejected(_Strict):
    text: str
    why: str


class StoredView(_Strict):
    """A view as `harness.bank` stores it: every item; of the rejected candidates those it keeps."""

    items: tuple[_Item, ...]
    rejected: tuple[_Rejected, ...]
    considered: _Count


class Said(_Strict):
    """What the reader of one store wrote: the view, or what the memory raised."""

    view: StoredView | None = None
    fault: str | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> Said:
        if (self.view is None) == (self.fault is None):
            raise ValueError("neither a view nor a fault")
        return self


class Answer(_Strict):
    """One line of the worker; see `harness.replaying.view_worker`."""

    job: _Count
    end: Literal["said", "unknown", "version", "extra", "late", "long", "died"]
    said: str


class _Ready(_Strict):
    ready: Literal[True]


def answers(stdout: bytes, key: bytes, jobs: int) -> dict[int, Answer] | None:
    """The answers by job, as far as they are there; None when the worker did not come up.

    A line without the mark of `key` is not the worker's and says nothing.
    """
    found: dict[int, Answer] = {}
    ready = False
    for line in stdout.split(b"\n"):
        mark, _, text = line.partition(b" ")
        if not hmac.compare_digest(mark, hmac.digest(key, text, "sha256").hex().encode()):
            continue
        try:
            if not ready:
                ready = _Ready.model_validate_json(text).ready
                continue
            answer = Answer.model_validate_json(text)
        except ValidationError:
            continue
        if answer.job < jobs:
            found.setdefault(answer.job, answer)
    return found if ready else None


def stored_view(data: bytes) -> StoredView | None:
    """A view that was recorded, or None for bytes that are none."""
    try:
        return StoredView.model_validate_json(data)
    except ValidationError:
        return None


def said(text: str) -> Said | None:
    """What a reader wrote, or None for a text that is nothing of the kind."""
    try:
        return Said.model_validate_json(text)
    except (ValidationError, UnicodeEncodeError):
        return None


def difference(recorded: StoredView, rebuilt: StoredView) -> str:
    """The first difference of two views in words; "" when there is none."""
    pairs: list[tuple[str, Sequence[_Strict], Sequence[_Strict]]] = [
        ("item", recorded.items, rebuilt.items),
        ("rejected candidate", recorded.rejected, rebuilt.rejected),
    ]
    for what, old, new in pairs:
        for rank, (one, other) in enumerate(zip(old, new, strict=False), 1):
            if found := _fields(one, other):
                return f"{what} {rank}: {found}"
        if len(old) != len(new):
            return f"{what}s: {len(old)} recorded, {len(new)} rebuilt"
    if recorded.considered != rebuilt.considered:
        return f"candidates considered: {recorded.considered} recorded, {rebuilt.considered} rebuilt"
    return ""


def _fields(old: _Strict, new: _Strict) -> str:
    left, right = _flat(old.model_dump()), _flat(new.model_dump())
    for name in left:
        if left[name] != right[name]:
            one, other = _apart(str(left[name]), str(right[name]))
            return f"{name} differs: {one} recorded, {other} rebuilt"
    return ""


def _flat(fields: Mapping[str, object]) -> dict[str, object]:
    scope = fields.get("scope")
    inner = {f"scope {name}": value for name, value in scope.items()} if isinstance(scope, dict) else {}
    return {name: value for name, value in fields.items() if name != "scope"} | inner


def _apart(old: str, new: str) -> tuple[str, str]:
    """Both texts from shortly before where they part, as they can be shown."""
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    start = max(same - _SHOWN // 4, 0)
    one, other = (shown(text[start:], _SHOWN) for text in (old, new))
    return ("…" * (start > 0) + one, "…" * (start > 0) + other)


def shown(text: str, most: int = 160) -> str:
    """A text of hostile origin as one short line."""
    line = clean(text[: 4 * most])
    return repr(line) if len(line) <= most else repr(line[: most - 1] + "…")
