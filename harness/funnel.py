"""The fact funnel: how far each fact of an arm came, and where it was lost.

    injected -> written -> alive after sleep -> admitted into the S3 view -> used in the S3 change

A token is followed by its text, a choice or a story by the number of the note that told it. Invariant: the stages
are monotone (a fact that is used was admitted, alive and written), every injected fact has exactly one place where it
ended, and a store that cannot be listed is `unknown`, never `lost`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from memory_probe.protocol import Receipt, StoredRecord, Unlisted, View
from traps.facts import fold

STAGES = ("injected", "written", "alive", "admitted", "used")
PREFIX = 8  # characters of a trimmed token that still tell it
EDITS = 2  # edit distance up to which a text is a changed form
_ALIVE = ("active", "unknown")


@dataclass(frozen=True)
class Tracer:
    """What is looked for: a fact's `name`, its `text` (token value, or the note's number), and its `role`.

    `kind` is the kind of the event that told it first, `after` the session it followed. `exact`: changed forms are not
    looked for, because a text of few bits (a note's number) may resemble another's.
    """

    name: str
    text: str
    role: str
    kind: str = ""
    after: int = 0
    exact: bool = False


@dataclass(frozen=True)
class Trace:
    """How far one fact came. `stage` is the last one it reached; `lost` says why it went no further ("" = used).

    `corrupted` is true when only a changed form was found at the first stage that misses the exact text.
    """

    name: str
    role: str
    stage: str
    lost: str
    corrupted: bool = False
    kind: str = ""
    after: int = 0


@dataclass
class Seen:
    """What an arm left behind: its receipts, its records after sleep, and the S3 view. Texts are folded once."""

    receipts: Sequence[Receipt]
    records: Sequence[StoredRecord] | Unlisted
    view: View

    @cached_property
    def folded_view(self) -> list[str]:
        return [fold(item.text) for item in self.view.items]

    @cached_property
    def folded_records(self) -> list[str]:
        return [] if isinstance(self.records, Unlisted) else [fold(r.text) for r in self.records]

    @cached_property
    def folded_receipts(self) -> list[str]:
        return [fold(r.text) for r in self.receipts if r.status == "ok"]


def trace(tracer: Tracer, seen: Seen, used: Iterable[str]) -> Trace:
    """Follow one fact. The later stages are looked at first: what was seen late must have passed the early ones."""
    stage, lost, corrupted = _end(tracer, seen, used)
    return Trace(tracer.name, tracer.role, stage, lost, corrupted, tracer.kind, tracer.after)


def _end(tracer: Tracer, seen: Seen, used: Iterable[str]) -> tuple[str, str, bool]:
    """(last stage reached, why no further, was only a changed form found)."""
    if any(tracer.text in item.text for item in seen.view.items):
        return ("used", "", False) if tracer.name in used else ("admitted", "not used in the change", False)
    if _changed(tracer, seen.folded_view):
        return "alive", "corrupted in the view", True
    reason = next((r.why or "no reason given" for r in seen.view.rejected if tracer.text in r.text), "")
    if isinstance(seen.records, Unlisted):
        return ("alive", reason, False) if reason else _unlisted(tracer, seen, f"unknown: {seen.records.why}")
    holding = [record for record in seen.records if tracer.text in record.text]
    if any(record.state in _ALIVE for record in holding):
        return "alive", reason or "not among the candidates", False
    if holding:
        return "written", f"{holding[0].state} after sleep", False
    if reason:
        return "alive", reason, False
    if _changed(tracer, seen.folded_records):
        return "injected", "corrupted in the store", True
    telling = [r for r in seen.receipts if tracer.text in r.text]
    if any(r.status == "ok" for r in telling):
        return "written", "gone after sleep", False
    return _refused(telling) or (
        ("injected", "corrupted when written", True)
        if _changed(tracer, seen.folded_receipts)
        else ("injected", "not written", False)
    )


def _unlisted(tracer: Tracer, seen: Seen, unknown: str) -> tuple[str, str, bool]:
    """A store that nobody can look into: only a refusal that it said itself is a loss."""
    telling = [r for r in seen.receipts if tracer.text in r.text]
    if any(r.status == "ok" for r in telling):
        return "written", unknown, False
    return _refused([r for r in telling if r.status == "rejected"]) or ("injected", unknown, False)


def _refused(telling: Sequence[Receipt]) -> tuple[str, str, bool] | None:
    return ("injected", f"{telling[0].status}: {telling[0].why}", False) if telling else None


def _changed(tracer: Tracer, folded: Sequence[str]) -> bool:
    return not tracer.exact and _near(fold(tracer.text), folded)


def near(token: str, texts: Iterable[str]) -> bool:
    """Does a text hold a changed form: within edit distance 2 after folding, or a trimmed one of at least 8 characters?

    A trimmed form must reach past the last separator of the token, or every word that tokens begin with would be one.
    """
    return _near(fold(token), [fold(text) for text in texts])


def _near(wanted: str, folded: Sequence[str]) -> bool:
    """Three pieces: two edits leave one of them whole, so most texts are passed over by a substring search."""
    cuts = [len(wanted) * n // (EDITS + 1) for n in range(EDITS + 2)]
    pieces = [(wanted[a:b], a) for a, b in pairwise(cuts) if b > a]
    tried: set[str] = set()
    for text in folded:
        if _trimmed(wanted, text):
            return True
        for piece, offset in pieces:
            for at in _places(piece, text):
                window = text[max(0, at - offset - EDITS) : at - offset + len(wanted) + EDITS]
                if window not in tried:
                    tried.add(window)
                    if _within(wanted, window, EDITS):
                        return True
    return False


def _trimmed(wanted: str, text: str) -> bool:
    """Does the text hold a true prefix of `wanted`, ended by something that is no letter or digit?"""
    constant = max((n for n, char in enumerate(wanted, 1) if not char.isalnum()), default=0)
    least = max(PREFIX, constant + 1)
    if len(wanted) <= least:
        return False
    for at in _places(wanted[:least], text):
        end = at + least
        while end < len(text) and end - at < len(wanted) and text[end] == wanted[end - at]:
            end += 1
        if end == len(text) or not text[end].isalnum():
            return True
    return False


def _places(piece: str, text: str) -> Iterator[int]:
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + 1)


def _within(wanted: str, window: str, most: int) -> bool:
    """Is some part of the window within the edit distance? (Levenshtein; what stands around the part is free.)"""
    row = [0] * (len(window) + 1)
    for number, left in enumerate(wanted, 1):
        before, row = row, [number]
        for column, right in enumerate(window, 1):
            row.append(min(row[-1] + 1, before[column] + 1, before[column - 1] + (left != right)))
        if min(row) > most:
            return False
    return min(row) <= most
