"""The simple conditions: nothing (B0), one verbatim record an event (B5), everything in order (ALL), fixed items.

Invariant: each keeps the whole text of what it stores; what a view leaves out is left out by the condition's own
stated policy and listed as rejected.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from memory_probe.protocol import (
    Budget,
    Card,
    Episode,
    MemoryFault,
    Note,
    Query,
    Receipt,
    Scope,
    SleepReport,
    StoredRecord,
    View,
    ViewItem,
    pack,
)

_LOG = "events.jsonl"


class NoMemory:
    """B0: records nothing, reads nothing."""

    def __init__(self, card: Card) -> None:
        self.card = card

    def record(self, episode: Episode) -> list[Receipt]:
        return [Receipt("rejected", note.text, "this condition keeps nothing") for note in episode.notes]

    def settle(self, timeout: float) -> None:
        return

    def sleep(self, now: dt.date) -> SleepReport:
        return SleepReport()

    def read(self, query: Query, budget: Budget) -> View:
        return View()

    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        return iter(())

    def freeze(self) -> Mapping[str, bytes]:
        return {}

    def close(self) -> None:
        return


class FixedItems(NoMemory):
    """EVIDENCE and POISON: instruments whose items the harness fills in; budget and k do not apply."""

    def __init__(self, card: Card, items: tuple[ViewItem, ...]) -> None:
        super().__init__(card)
        self._items = items

    def read(self, query: Query, budget: Budget) -> View:
        return View(self._items, (), len(self._items))


class EventLog(NoMemory):
    """A namespace with one JSON line an event, in the order told. Subclasses decide what a view takes."""

    def __init__(self, card: Card, namespace: Path) -> None:
        super().__init__(card)
        namespace.mkdir(parents=True, exist_ok=True)
        self._path = namespace / _LOG

    def record(self, episode: Episode) -> list[Receipt]:
        lines = [json.dumps(_to_json(note), ensure_ascii=True) + "\n" for note in episode.notes]
        with self._path.open("a", encoding="ascii") as file:
            file.write("".join(lines))
            file.flush()
        return [Receipt("ok", note.text) for note in episode.notes]

    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        return iter([StoredRecord(note.text, "unknown") for note in self.notes()])

    def freeze(self) -> Mapping[str, bytes]:
        return {_LOG: self._path.read_bytes()} if self._path.exists() else {}

    def notes(self) -> list[Note]:
        """Every stored event, oldest first. Raises MemoryFault for a damaged store."""
        if not self._path.exists():
            return []
        found = []
        for number, line in enumerate(self._path.read_text(encoding="ascii").splitlines(), 1):
            try:
                found.append(_from_json(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise MemoryFault(f"store corrupt: {_LOG} line {number}: {error}") from error
        return found


class VerbatimMemory(EventLog):
    """B5: score = share of the query's words found in the record, + 1 if a scope path matches; ties newest first."""

    def read(self, query: Query, budget: Budget) -> View:
        wanted = words(f"{query.prompt} {' '.join(query.paths)}")
        scored = [(self._score(note, wanted, query.paths), note) for note in self.notes()]
        ranked = sorted(enumerate(scored), key=lambda e: (-e[1][0], -e[1][1].date.toordinal(), -e[0]))
        matches = [_item(note) for _, (score, note) in ranked if score > 0]
        taken, left = pack(matches, budget)
        return View(taken, left, len(scored))

    @staticmethod
    def _score(note: Note, wanted: frozenset[str], paths: tuple[str, ...]) -> float:
        share = len(wanted & words(note.text)) / len(wanted) if wanted else 0.0
        return share + (1.0 if set(note.scope.files) & set(paths) else 0.0)


class AllEvents(EventLog):
    """ALL: every event, oldest first, whole, while the token budget lasts; no k."""

    def read(self, query: Query, budget: Budget) -> View:
        items = [_item(note) for note in self.notes()]
        taken, left = pack(items, Budget(None, budget.tokens))
        return View(taken, left, len(items))


def words(text: str) -> frozenset[str]:
    """Lower-case runs of letters and digits, of any script."""
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def _item(note: Note) -> ViewItem:
    """Verbatim conditions expose date, type and scope, and know nothing of state."""
    return ViewItem(note.text, note.date, note.kind, note.scope, "unknown")


def _to_json(note: Note) -> dict[str, object]:
    data = asdict(note)
    return {**data, "date": note.date.isoformat(), "until": note.until.isoformat() if note.until else None}


def _from_json(data: dict[str, object]) -> Note:
    scope = data["scope"]
    if not isinstance(scope, dict):
        raise TypeError("scope is not an object")
    until = data["until"]
    return Note(
        text=str(data["text"]),
        kind=str(data["kind"]),
        author=str(data["author"]),
        authority=int(str(data["authority"])),
        date=dt.date.fromisoformat(str(data["date"])),
        until=dt.date.fromisoformat(str(until)) if until else None,
        scope=Scope(tuple(scope["files"]), tuple(scope["symbols"]), str(scope["task"])),
    )
