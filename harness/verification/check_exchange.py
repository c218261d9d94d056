"""Exchanges with a model, line by line, against what the records say was used; and what was asked of a memory.

Invariant: lines come from somebody else, so that one that cannot be read is a problem and never skipped; a session in
which something of ours broke is not compared, because its exchange may have been cut.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.agents.pull import TARGET
from harness.bundle.opened import Opened
from harness.outcome import UsageFault
from harness.prompts import item_from
from harness.records import ArmRecord, ModelUse
from harness.verification.case import Case
from harness.verification.check_channel import where
from memory_probe.protocol import ViewItem
from traps.schema import explain

_Count = Annotated[int, Field(ge=0, le=10**15)]
_LISTED = 1000  # lines of requests that were not sent on, which the relay writes of one session
_KINDS = ("input", "output", "cached", "written")


class _Tokens(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    input: _Count
    output: _Count
    cached: _Count
    written: _Count


class Line(BaseModel):
    """What the relay wrote of one request, as far as it is compared."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    target: str
    model: str
    status: int | None
    attempts: list[dict[str, Any]]
    tokens: _Tokens | None
    end: str
    response: str = ""

    @property
    def costs(self) -> bool:
        """Whether it may have cost tokens; as `containers.relay_book` says it."""
        counts = "count" not in self.target.rpartition("/")[2].lower()
        early = self.end in ("left", "limit") or self.status is None
        return bool(self.attempts) and counts and (early or (self.status or 0) < 400)

    @property
    def answered_here(self) -> bool:
        """Whether the memory answered it."""
        return self.target == TARGET and not self.attempts and self.end != "refused"


def lines(data: bytes) -> list[Line]:
    """Raises ValueError for a line that is none."""
    try:
        return [Line.model_validate_json(line) for line in data.splitlines()]
    except ValidationError as error:
        raise ValueError(explain(error)[:200]) from None


def exchange_problems(case: Case) -> Iterator[str]:
    """Calls, repeats, cut answers and tokens of every use against its exchange; views of agents that ask against it."""
    whole = case.whole
    if whole is None:
        return
    for (arm, _), sessions in whole.archive.attempts.items():
        for session in sessions:
            if session.model and not session.paid_in and not session.model.trouble:
                place = where(arm, session)
                yield from _compared(whole, place, session.model)
                if whole.config.delivery == "pull":
                    yield from _shown(whole, place, session.view, session.model)
    asked: Mapping[tuple[str, int], ArmRecord] = {(r.arm, r.attempt): r for r in whole.archive.asked}
    for record in asked.values():
        if record.asked and not record.asked.trouble:
            yield from _compared(whole, f"{record.arm} (its memory)", record.asked)


def _compared(whole: Opened, place: str, use: ModelUse) -> Iterator[str]:
    try:
        found = lines(whole.folder.get_blob(use.exchange))
    except UsageFault:
        return  # told among the objects
    except ValueError as error:
        yield f"{place}: its exchange cannot be read ({error})"
        return
    made = [line for line in found if line.attempts]
    unsent: float = sum(not line.attempts and line.end in ("down", "limit", "left") for line in found)
    if len(found) - len(made) >= _LISTED:
        unsent = math.inf  # others of them were not written
    told = {
        "repeats": (use.repeats, sum(len(line.attempts) - 1 for line in made)),
        "answers cut off": (use.cut, sum(line.end == "cut" for line in found)),
        "searches": (use.pulled, sum(line.answered_here for line in found)),
        "calls": (use.calls, max(len(made), int(min(use.calls, len(made) + unsent)))),
    }
    for what, (said, counted) in told.items():
        if said != counted:
            yield f"{place}: {said} {what} are told, its exchange has {counted}"
    yield from _tokens(place, use, made)


def _tokens(place: str, use: ModelUse, made: list[Line]) -> Iterator[str]:
    due: dict[str, dict[str, int | None]] = defaultdict(lambda: dict.fromkeys(_KINDS, 0))
    for line in made:
        counts = due[line.model]
        for kind in _KINDS:
            before = counts[kind]
            if line.costs:
                known = line.tokens is not None and before is not None
                counts[kind] = (before or 0) + getattr(line.tokens, kind) if known else None
    said = {entry.model: {kind: getattr(entry, kind) for kind in _KINDS} for entry in use.tokens}
    for model in sorted({*said, *due}):
        if (own := said.get(model)) != (counted := dict(due[model])):
            yield f"{place}: tokens of {model[:60]!r} are told as {_words(own)}, its exchange has {_words(counted)}"


def _words(counts: Mapping[str, int | None] | None) -> str:
    if counts is None:
        return "none"
    return ", ".join(f"{'?' if value is None else value} {kind}" for kind, value in counts.items())


def _shown(whole: Opened, place: str, view: str, use: ModelUse) -> Iterator[str]:
    """Every item of the view stands in an answer that the memory gave."""
    stored = whole.archive.view(view)
    try:
        items = [item_from(item) for item in stored.items]
        told = "".join(
            line.response for line in lines(whole.folder.get_blob(use.exchange)) if line.answered_here
        )  # fmt: skip
    except (UsageFault, ValueError, TypeError, KeyError, AttributeError):
        return  # told elsewhere
    if lost := [item for item in items if _lines(item) not in told]:
        yield f"{place}: {len(lost)} items of its view stand in no answer that the agent was given"


def _lines(item: ViewItem) -> str:
    """An item's text as the one renderer writes it."""
    return "".join(f"    {text}\n" for text in item.text.split("\n"))
