"""The simplest conditions: nothing (B0), one verbatim record an event (B5), everything in order (ALL), fixed items.

Invariant: each keeps the whole text of what it stores; what a view leaves out is left out by the condition's own
stated policy and listed as rejected.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from pathlib import Path

from memory_probe.protocol import Budget, Card, Episode, Query, Receipt, SleepReport, StoredRecord, View, ViewItem
from memory_probe.shelf import Shelf
from memory_probe.verbatim import by_words_and_path, every_event, in_order


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


class VerbatimMemory(Shelf):
    """B5: score = share of the query's words found in the record, + 1 if a scope path matches; ties newest first."""

    FILE = "events.jsonl"

    def __init__(self, card: Card, namespace: Path) -> None:
        super().__init__(card, namespace, every_event, by_words_and_path)


class AllEvents(Shelf):
    """ALL: every event, oldest first, whole, while the token budget lasts; no k."""

    FILE = "events.jsonl"

    def __init__(self, card: Card, namespace: Path) -> None:
        super().__init__(card, namespace, every_event, in_order, bounded=False)
