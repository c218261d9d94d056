"""A run's arms as compressed data inside the page: an index of all, and a chunk of details and texts for each trap.

Invariant: the same arms give the same bytes; what is embedded is base64 alone, so no text can end its element; all
texts are cut to the same length, the largest step that keeps the whole under the budget, and the pack says which.

The page unpacks the index at once and a chunk when one of its arms is opened. Texts are numbered in the order of the
chunks, so `starts` tells which chunk holds a number. Texts of a kind stand together: neighbours are alike, and deflate
looks back 32 KiB only. Items of views and entries of carry manifests stand once a chunk; sessions name their places.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

from analysis.report.source import ArmDetail, Arms, EndingDetail, SessionDetail, Shown

BUDGET = 7_000_000  # bytes of all embedded data
STEPS = (None, 20_000, 4_000, 1_000, 0)  # characters to which every text is cut; None: none is
LEVEL = 6
NOWHERE = -1  # a text that is named but was not kept

Thing = TypeVar("Thing", bound=Hashable)

_ITEM, _PROMPT, _DIFF, _TRANSCRIPT = range(4)


@dataclass(frozen=True)
class Pack:
    """Base64 of deflated JSON. `keys`: the URL fragment of each arm; `cut`: as `Arms.cut`, after packing."""

    index: str
    chunks: tuple[str, ...]
    keys: Mapping[str, str]
    cut: int | None

    @property
    def size(self) -> int:
        """Bytes in the page."""
        return len(self.index) + sum(map(len, self.chunks))


def pack(arms: Arms, budget: int = BUDGET) -> Pack:
    """All arms, with texts cut as far as the budget asks; with the last step (no texts) the budget may be exceeded."""
    keys = fragments([detail.arm for detail in arms.details])
    groups = _by_trap(arms.details)
    numbers, starts = _numbered(groups, arms.texts)
    order = list(numbers)
    ends = [*starts, len(order)][1:]
    index = _packed(_index(groups, keys, starts))
    steps = _steps(arms, numbers)
    for step in steps:
        room = budget - len(index) if step != steps[-1] else None
        bodies = (
            _body(group, numbers, [_cut(arms.texts[key], step) for key in order[start:end]])
            for group, start, end in zip(groups, starts, ends, strict=True)
        )
        if (chunks := _within(map(_packed, bodies), room)) is not None:
            return Pack(index, chunks, keys, arms.cut if step is None else step)
    raise AssertionError("the last step has no bound")


def _steps(arms: Arms, used: Iterable[str]) -> list[int | None]:
    """The steps worth a try: those that cut something, and the last one."""
    longest = max((len(arms.texts[key]) for key in used), default=0)
    return [step for step in STEPS if step is None or step == STEPS[-1] or step < longest]


def fragments(arms: Sequence[str]) -> dict[str, str]:
    """A URL fragment for every arm, all different; readable where the id is plain."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for arm in dict.fromkeys(arms):
        plain = key = quote(arm, safe="/", errors="replace")
        again = 1
        while key in taken:
            again += 1
            key = f"{plain}~{again}"
        taken.add(key)
        found[arm] = key
    return found


def _by_trap(details: Sequence[ArmDetail]) -> list[list[ArmDetail]]:
    """The arms of each trap, in the order in which traps appear; an arm that is there twice is there once."""
    found: dict[str, list[ArmDetail]] = {}
    for detail in {detail.arm: detail for detail in details}.values():
        found.setdefault(detail.trap, []).append(detail)
    return list(found.values())


def _numbered(groups: Sequence[Sequence[ArmDetail]], texts: Mapping[str, str]) -> tuple[dict[str, int], list[int]]:
    """A number for every text that is used, and the first number of each chunk."""
    numbers: dict[str, int] = {}
    starts = []
    for group in groups:
        starts.append(len(numbers))
        new: dict[str, tuple[int, int]] = {}
        for kind, session, key in (used for detail in group for used in _used(detail)):
            if key in texts and key not in numbers:
                new.setdefault(key, (kind, session))
        for key in sorted(new, key=new.__getitem__):  # stable: the arms' order within a kind
            numbers[key] = len(numbers)
    return numbers, starts


def _used(detail: ArmDetail) -> Iterator[tuple[int, int, str]]:
    """Kind, session and key of every text of an arm."""
    for session in detail.sessions:
        yield _PROMPT, session.number, session.prompt
        yield _DIFF, session.number, session.diff
        yield _TRANSCRIPT, session.number, session.transcript
        for item in (*session.admitted, *session.rejected):
            yield _ITEM, 0, item.text


def _index(groups: Sequence[Sequence[ArmDetail]], keys: Mapping[str, str], starts: Sequence[int]) -> object:
    rows = [
        [keys[d.arm], d.arm, d.trap, d.construct, d.condition, d.seed, d.history, chunk,
         [[e.reader, e.outcome] for e in d.endings]]
        for chunk, group in enumerate(groups) for d in group
    ]  # fmt: skip
    return {"arms": rows, "starts": starts}


@dataclass(frozen=True)
class _Tables:
    """What sessions of a chunk share: the place of each item and of each entry of a carry manifest."""

    items: dict[Shown, int]
    carried: dict[tuple[str, int, str], int]


def _body(group: Sequence[ArmDetail], numbers: Mapping[str, int], texts: Sequence[object]) -> object:
    tables = _Tables({}, {})
    details = [
        {
            "arm": detail.arm,
            "expect": detail.expect,
            "attempt": detail.attempt,
            "sessions": [_session(session, numbers, tables) for session in detail.sessions],
            "endings": [_ending(ending) for ending in detail.endings],
        }
        for detail in group
    ]
    items = [[_place(i.text, numbers), i.role, i.type, i.scope, i.state, i.date, i.why] for i in tables.items]
    return {"details": details, "items": items, "carried": list(tables.carried), "texts": texts}


def _session(session: SessionDetail, numbers: Mapping[str, int], tables: _Tables) -> object:
    return {
        "number": session.number,
        "reader": session.reader,
        "prompt": _place(session.prompt, numbers),
        "admitted": _places(session.admitted, tables.items),
        "rejected": _places(session.rejected, tables.items),
        "considered": session.considered,
        "bytes": session.memory_bytes,
        "diff": _place(session.diff, numbers),
        "check": session.check,
        "carried": _places(session.carried, tables.carried),
        "notes": session.notes,
        "transcript": _place(session.transcript, numbers),
    }


def _places(things: Sequence[Thing], table: dict[Thing, int]) -> list[int]:
    return [table.setdefault(thing, len(table)) for thing in things]


def _ending(ending: EndingDetail) -> object:
    checks = [[check.mark, check.text, check.detail] for check in ending.checks]
    return [ending.reader, ending.outcome, ending.cause, ending.boundary, checks, ending.fates, ending.paths]


def _place(key: str, numbers: Mapping[str, int]) -> int | None:
    """The number of a text; None where the arm has none."""
    return numbers.get(key, NOWHERE) if key else None


def _cut(text: str, step: int | None) -> object:
    """The text, or what is left of it and its whole length in characters."""
    return text if step is None or len(text) <= step else [text[:step], len(text)]


def _packed(data: object) -> str:
    plain = json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return base64.b64encode(zlib.compress(plain, LEVEL)).decode("ascii")


def _within(chunks: Iterator[str], room: int | None) -> tuple[str, ...] | None:
    """The chunks, or None as soon as they take more than `room` bytes."""
    found = []
    size = 0
    for chunk in chunks:
        found.append(chunk)
        size += len(chunk)
        if room is not None and size > room:
            return None
    return tuple(found)
