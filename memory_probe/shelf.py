"""A memory made of two policies: what it writes of a session, and how it ranks what it wrote.

Invariant: whatever a policy does not keep or show is named in a receipt or a rejection with the reason; the shelf
itself changes no text and drops none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_probe.lexical import asked, share, words
from memory_probe.lines import Lines, Row
from memory_probe.protocol import (
    Budget,
    Card,
    Episode,
    Query,
    Receipt,
    Rejected,
    Scope,
    SleepReport,
    State,
    StoredRecord,
    View,
    ViewItem,
    pack,
)

NO_MATCH = "no match with the query"
_NOWHERE = Scope()


@dataclass(frozen=True)
class Kept:
    """One record. `kind` and `scope` stay empty where the policy does not keep them; `source` says where it is from."""

    text: str
    date: dt.date
    kind: str = ""
    scope: Scope = _NOWHERE
    source: str = ""


@dataclass(frozen=True)
class Writing:
    """What a policy made of a session: records to keep, and the text it leaves out with the reason."""

    kept: tuple[Kept, ...]
    dropped: tuple[Rejected, ...] = ()


Write = Callable[[Episode], Writing]
#: A score for each record, in their order; 0 or less is no match. Ties go to the newest, then to the last told.
Rank = Callable[[Query, Sequence[Kept]], list[float]]


class Shelf:
    """A memory of one file. `bounded` false: the condition takes no notice of k (the token budget stands)."""

    FILE = "records.jsonl"

    def __init__(self, card: Card, namespace: Path, write: Write, rank: Rank, bounded: bool = True) -> None:
        self.card = card
        self._lines = Lines(namespace, self.FILE)
        self._write, self._rank, self._bounded = write, rank, bounded

    def record(self, episode: Episode) -> list[Receipt]:
        made = self._write(episode)
        self._lines.append([_to_row(kept) for kept in made.kept])
        return receipts(made)

    def settle(self, timeout: float) -> None:
        return

    def sleep(self, now: dt.date) -> SleepReport:
        return SleepReport()

    def read(self, query: Query, budget: Budget) -> View:
        held = self.kept()
        scores = self._rank(query, held)
        order = sorted(range(len(held)), key=lambda i: (-scores[i], -held[i].date.toordinal(), -i))
        matches = [item(held[i]) for i in order if scores[i] > 0]
        misses = tuple(Rejected(held[i].text, NO_MATCH) for i in order if scores[i] <= 0)
        taken, left = pack(matches, budget if self._bounded else Budget(None, budget.tokens))
        return View(taken, left + misses, len(held))

    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        return iter([StoredRecord(kept.text) for kept in self.kept()])

    def freeze(self) -> Mapping[str, bytes]:
        return self._lines.freeze()

    def close(self) -> None:
        return

    def kept(self) -> list[Kept]:
        """Every record, oldest first. Raises MemoryFault for a damaged store."""
        return self._lines.load(_from_row)


def receipts(made: Writing) -> list[Receipt]:
    """One receipt for each record kept, one for each text left out."""
    return [Receipt("ok", k.text) for k in made.kept] + [Receipt("rejected", d.text, d.why) for d in made.dropped]


def item(kept: Kept) -> ViewItem:
    """A record with fields says that its state is unknown to it; a bare text has no state field at all."""
    state: State | None = "unknown" if kept.kind else None
    return ViewItem(kept.text, kept.date, kept.kind or None, kept.scope, state, None, kept.source or None)


def by_words(query: Query, held: Sequence[Kept]) -> list[float]:
    """Share of the query's words found in the text."""
    wanted = words(asked(query))
    return [share(wanted, kept.text) for kept in held]


def _to_row(kept: Kept) -> Row:
    return {**vars(kept), "date": kept.date.isoformat(), "scope": vars(kept.scope)}


def _from_row(row: Row) -> Kept:
    scope = row["scope"]
    if not isinstance(scope, dict):
        raise TypeError("scope is not an object")
    return Kept(
        text=str(row["text"]),
        date=dt.date.fromisoformat(str(row["date"])),
        kind=str(row["kind"]),
        scope=Scope(tuple(scope["files"]), tuple(scope["symbols"]), str(scope["task"])),
        source=str(row["source"]),
    )
