"""Operator `consolidate`: events and outcomes become typed memories.

Invariant: every event becomes exactly one memory that holds its whole text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from memory_probe.sleep.base import Settings, from_note, from_session, outcome, session_line, session_scope, standing
from memory_probe.store.derived import Append, Proposal
from memory_probe.store.model import MemoryType
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView
from memory_probe.weights import Birth

_TYPE_OF: dict[str, MemoryType] = {
    "human_feedback": "human_feedback",
    "contradiction": "contradiction",
    "staleness": "semantic_project",
}
_SAID = {
    "passed": "The public check passed.",
    "partial": "The public check passed, but nothing was changed.",
    "failed": "The public check failed.",
    "unknown": "Nothing is known of how it ended.",
}


def consolidate(view: StoreView, new: Sequence[Recorded], now: dt.date, settings: Settings) -> Proposal:
    """One memory an event, and one an outcome (untyped: events only, as episodic)."""
    appends: list[Append] = []
    for recorded in new:
        appends += written(recorded, [_by_kind(note.kind, settings) for note in recorded.episode.notes], now, settings)
    return Proposal(tuple(appends))


def written(
    recorded: Recorded, types: Sequence[tuple[MemoryType, Birth]], now: dt.date, settings: Settings
) -> Iterator[Append]:
    """The memories of one episode, with the type and birth of each of its notes. A blank note becomes none."""
    for index, (note, (type_, birth)) in enumerate(zip(recorded.episode.notes, types, strict=True), 1):
        if note.text.strip():
            yield from_note(recorded, index, type_, f"an event of kind {note.kind}", birth, now)
    if settings.typed:
        yield _outcome(recorded, now, settings)


def _by_kind(kind: str, settings: Settings) -> tuple[MemoryType, Birth]:
    if not settings.typed:
        return "episodic", settings.weights.noted
    told = settings.weights.told if kind in _TYPE_OF else settings.weights.noted
    return _TYPE_OF.get(kind, "procedural"), told


def _outcome(recorded: Recorded, now: dt.date, settings: Settings) -> Append:
    changed = session_scope(recorded).files
    line = f"{session_line(recorded)}. {_SAID[outcome(recorded)]}"
    content = f"{line} Changed: {', '.join(changed)}." if changed else line
    memory = from_session(recorded, "procedural", content, "the outcome of a session", now)
    return Append(memory, standing(settings.weights.noted, now))
