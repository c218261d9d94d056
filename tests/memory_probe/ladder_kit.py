"""Small sessions for the tests of the ladder."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TypedDict, Unpack

from memory_probe.ladder import Opening, conditions
from memory_probe.protocol import Budget, Episode, Memory, Note, Query, Scope, StoredRecord, Unlisted

DAY = dt.date(2026, 1, 5)
QUERY = Query("send reminders to the mail channel", ("src/a.py",), ("notify",), "demo", "mail", dt.date(2026, 2, 1))
WIDE = Budget(99, 99_999)


def note(text: str, day: int = 0, files: tuple[str, ...] = (), task: str = "") -> Note:
    return Note(text, "human_feedback", "desk", 2, DAY + dt.timedelta(day), None, Scope(files, (), task))


class Told(TypedDict, total=False):
    """What a session may be told of beside its events."""

    prompt: str
    steps: str
    delta: str


def episode(*notes: Note, number: int = 1, day: int = 0, **told: Unpack[Told]) -> Episode:
    """A session; prompt, steps and delta are empty unless told."""
    prompt, steps, delta = told.get("prompt", ""), told.get("steps", ""), told.get("delta", "")
    return Episode(number, "demo", "mail", DAY + dt.timedelta(day), prompt, steps, delta, True, "", notes)


def opened(code: str, folder: Path) -> Memory:
    return conditions()[code].open(Opening(folder))


def held(memory: Memory, include_inactive: bool = True) -> list[StoredRecord]:
    records = memory.records(include_inactive)
    assert not isinstance(records, Unlisted)
    return list(records)


def shown(memory: Memory, budget: Budget = WIDE) -> list[str]:
    return [item.text for item in memory.read(QUERY, budget).items]


def refrozen(memory: Memory, folder: Path) -> None:
    """Write the frozen files of a memory into another folder."""
    folder.mkdir()
    for name, data in memory.freeze().items():
        (folder / name).write_bytes(data)
