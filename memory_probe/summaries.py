"""Untyped memories that a writer makes of a session: a reflection, a summary, subtask memories, a task tracker.

Invariant: events come first, and what the writer has no room for is named in a receipt; no record is shortened
afterwards.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_probe.lines import Lines, Row
from memory_probe.protocol import (
    Budget,
    Card,
    Episode,
    Note,
    Query,
    Receipt,
    Scope,
    SleepReport,
    StoredRecord,
    View,
    pack,
)
from memory_probe.shelf import Kept, Writing, item, receipts
from memory_probe.trajectory import What, ordered
from memory_probe.writer import LIMIT, Writer, extract

SUBTASKS = 3


def reflection(episode: Episode, writer: Writer = extract) -> Writing:
    """One free-form reflection: what was said, how the check ended, what was done."""
    return _one(episode, writer, "event", "check", "steps", "change", "prompt")


def summary(episode: Episode, writer: Writer = extract) -> Writing:
    """One untyped summary: what was said, what was asked, what was changed."""
    return _one(episode, writer, "event", "prompt", "change", "check", "steps")


def subtasks(episode: Episode, writer: Writer = extract) -> Writing:
    """At most three memories, one a task that the events name, in their order; tasks beyond the third share the last.

    What was asked, changed and checked goes to the memory of the session's own task, which comes last if no event
    names it and there is room, and else to the first.
    """
    groups = _by_task(episode)
    rest = [p.text for p in ordered(episode, "prompt", "check", "change", "steps")]
    own = next((i for i, (task, _) in enumerate(groups) if task == episode.task), None)
    if own is None and len(groups) < SUBTASKS:
        groups.append((episode.task, []))
        own = len(groups) - 1
    made = [
        (task, writer([note.text for note in notes] + (rest if place == (own or 0) else []), LIMIT))
        for place, (task, notes) in enumerate(groups)
    ]
    return Writing(
        tuple(Kept(w.text, episode.date, "", Scope(task=task), source(episode)) for task, w in made if w.taken),
        tuple(left for _, written in made for left in written.dropped),
    )


def _one(episode: Episode, writer: Writer, *order: What) -> Writing:
    written = writer([part.text for part in ordered(episode, *order)], LIMIT)
    kept = (Kept(written.text, episode.date, source=source(episode)),) if written.taken else ()
    return Writing(kept, written.dropped)


def _by_task(episode: Episode) -> list[tuple[str, list[Note]]]:
    """The events by the task of their scope (the session's where none is said); a shared group has no task name."""
    found: dict[str, list[Note]] = {}
    for note in episode.notes:
        found.setdefault(note.scope.task or episode.task, []).append(note)
    groups = list(found.items())
    if len(groups) <= SUBTASKS:
        return groups
    shared = [note for _, notes in groups[SUBTASKS - 1 :] for note in notes]
    return [*groups[: SUBTASKS - 1], ("", shared)]


def source(episode: Episode) -> str:
    """Where a memory of a whole session is from."""
    return f"session {episode.number}"


@dataclass(frozen=True)
class Version:
    """The tracker after a session: what was said (newest session first), and how the work stands."""

    date: dt.date
    said: tuple[str, ...]
    stands: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join((*self.said, *self.stands))


class Tracker:
    """One evolving text for the whole sequence, of at most 250 words: each session's events on top, older ones below,
    then how the work stands; what no longer fits falls off at the end. Older versions stay in the store, superseded."""

    FILE = "tracker.jsonl"

    def __init__(self, card: Card, namespace: Path, writer: Writer = extract) -> None:
        self.card = card
        self._lines = Lines(namespace, self.FILE)
        self._writer = writer

    def record(self, episode: Episode) -> list[Receipt]:
        old = self.last() or Version(episode.date, (), ())
        news = [part.text for part in ordered(episode, "event")]
        work = [part.text for part in ordered(episode, "check", "prompt", "change", "steps")]
        said = self._writer([*news, *old.said], LIMIT)
        stands = self._writer([*work, *old.stands], LIMIT - said.size)
        version = Version(episode.date, said.taken, stands.taken)
        self.add(version)
        made = Writing((Kept(version.text, version.date),), said.dropped + stands.dropped)
        return receipts(made)

    def settle(self, timeout: float) -> None:
        return

    def sleep(self, now: dt.date) -> SleepReport:
        return SleepReport()

    def read(self, query: Query, budget: Budget) -> View:
        versions = self._versions()
        taken, left = pack([item(Kept(v.text, v.date)) for v in versions[-1:]], budget)
        return View(taken, left, len(versions[-1:]))

    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        versions = self._versions()
        old = [StoredRecord(v.text, "superseded") for v in versions[:-1]] if include_inactive else []
        return iter([*old, *(StoredRecord(v.text) for v in versions[-1:])])

    def freeze(self) -> Mapping[str, bytes]:
        return self._lines.freeze()

    def close(self) -> None:
        return

    def last(self) -> Version | None:
        """The tracker as it stands. Raises MemoryFault for a damaged store."""
        return self._lines.last(_from_row)

    def add(self, version: Version) -> None:
        """Let a version take the place of the last one."""
        self._lines.append([_to_row(version)])

    def _versions(self) -> list[Version]:
        return self._lines.load(_from_row)


def _to_row(version: Version) -> Row:
    return {"date": version.date.isoformat(), "said": list(version.said), "stands": list(version.stands)}


def _from_row(row: Row) -> Version:
    said, stands = row["said"], row["stands"]
    if not isinstance(said, list) or not isinstance(stands, list):
        raise TypeError("a section is not a list")
    return Version(dt.date.fromisoformat(str(row["date"])), tuple(map(str, said)), tuple(map(str, stands)))
