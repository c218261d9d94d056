"""Memories that are broken in one way each: what a conformance probe is for.

All of them are the sound one below with one method changed.
"""

from __future__ import annotations

import datetime as dt
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from memory_probe.protocol import (
    Budget,
    Card,
    Episode,
    MemoryFault,
    Note,
    Query,
    Receipt,
    SleepReport,
    StoredRecord,
    View,
    ViewItem,
    pack,
)

NAME = "store.json"


class Sound:
    """Every event in one JSON file; everything matches, newest told last."""

    card = Card("SOUND", "a memory for tests", "1", ("dates", "provenance"))

    def __init__(self, namespace: Path) -> None:
        self.namespace = namespace
        self.rows = self.load()

    @property
    def path(self) -> Path:
        return self.namespace / NAME

    def load(self) -> list[list[str]]:
        if not self.path.exists():
            return []
        try:
            rows: list[list[str]] = json.loads(self.path.read_bytes())
        except ValueError as error:
            raise MemoryFault(f"store corrupt: {error}") from error
        return rows

    def row(self, note: Note) -> list[str]:
        return [note.text, note.date.isoformat(), *note.scope.files]

    def save(self) -> None:
        self.path.write_text(json.dumps(self.rows), encoding="ascii")

    def record(self, episode: Episode) -> list[Receipt]:
        self.rows += [self.row(note) for note in episode.notes]
        self.save()
        return [Receipt("ok", note.text) for note in episode.notes]

    def settle(self, timeout: float) -> None:
        return

    def sleep(self, now: dt.date) -> SleepReport:
        return SleepReport()

    def items(self) -> list[ViewItem]:
        return [ViewItem(row[0], dt.date.fromisoformat(row[1])) for row in self.rows]

    def read(self, query: Query, budget: Budget) -> View:
        taken, left = pack(self.items(), budget)
        return View(taken, left, len(self.rows))

    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        return iter([StoredRecord(row[0]) for row in self.rows])

    def freeze(self) -> Mapping[str, bytes]:
        return {NAME: self.path.read_bytes()} if self.path.exists() else {}

    def close(self) -> None:
        return


class Trims(Sound):
    def row(self, note: Note) -> list[str]:
        return [note.text.replace("\r\n", "\n"), note.date.isoformat()]


class Cuts(Sound):
    def row(self, note: Note) -> list[str]:
        return [note.text[:8000], note.date.isoformat()]


class Leaks(Sound):
    """Keeps a second copy beside the namespace, and starts from it."""

    def load(self) -> list[list[str]]:
        shared = self.namespace.parent / NAME
        return json.loads(shared.read_text()) if shared.exists() and not self.path.exists() else super().load()

    def save(self) -> None:
        super().save()
        (self.namespace.parent / NAME).write_bytes(self.path.read_bytes())


class Forgets(Sound):
    """Keeps the last session in the process until it is frozen."""

    def save(self) -> None:
        if not self.path.exists():
            super().save()

    def freeze(self) -> Mapping[str, bytes]:
        Sound.save(self)
        return super().freeze()


class FreezesNothing(Sound):
    def freeze(self) -> Mapping[str, bytes]:
        return {}


class Misdates(Sound):
    def items(self) -> list[ViewItem]:
        return [replace(item, date=dt.date(2026, 3, 2)) for item in super().items()]


class Undated(Sound):
    def items(self) -> list[ViewItem]:
        return [replace(item, date=None) for item in super().items()]


class Reorders(Sound):
    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        return iter(list(super().records(include_inactive))[::-1])


class Late(Sound):
    """Shows a session only after the next was recorded."""

    def items(self) -> list[ViewItem]:
        return super().items()[:-1]


class FallsBack(Sound):
    def load(self) -> list[list[str]]:
        try:
            return super().load()
        except MemoryFault:
            return []


class Pretends(Sound):
    def items(self) -> list[ViewItem]:
        return [replace(item, state="active") for item in super().items()]


class KeepsTheDead(Sound):
    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        held = list(super().records(include_inactive))
        return iter([replace(record, state="retracted") for record in held[:1]] + held[1:])


class Overruns(Sound):
    def read(self, query: Query, budget: Budget) -> View:
        return View(tuple(self.items()), (), len(self.rows))


class Varies(Sound):
    def items(self) -> list[ViewItem]:
        return [replace(item, provenance=uuid.uuid4().hex) for item in super().items()]


class Slow(Sound):
    def freeze(self) -> Mapping[str, bytes]:
        time.sleep(0.3)
        return super().freeze()


#: broken memory -> the one probe that rejects it
BROKEN: dict[type[Sound], str] = {
    Trims: "byte-exact round trip",
    Cuts: "byte-exact round trip",
    Leaks: "namespace isolation",
    Forgets: "survives a restart",
    FreezesNothing: "survives freezing",
    Misdates: "order and dates kept",
    Undated: "order and dates kept",
    Reorders: "order and dates kept",
    Late: "reads its writes",
    FallsBack: "no silent fallback",
    Pretends: "shows only what it claims",
    KeepsTheDead: "update and delete as claimed",
    Overruns: "within the budget",
    Varies: "repeatable",
    Slow: "latency and size",
}
