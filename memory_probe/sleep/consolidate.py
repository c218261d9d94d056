"""Operator `consolidate`: events and outcomes become typed memories.

Invariant: every event becomes exactly one memory that holds its whole text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from memory_probe.sleep.base import Settings, from_note, from_session, outcome, session_line, session_scope, standing
from memory_probe.store.derived import Append, Proposal
from memory_probe.store.model import MemoryType
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView

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
        for index, note in enumerate(recorded.episode.notes, 1):
            if not note.text.strip():
                continue
            told = settings.typed and note.kind in _TYPE_OF
            type_ = _TYPE_OF.get(note.kind, "procedural") if settings.typed else "episodic"
            birth = settings.weights.told if told else settings.weights.noted
            appends.append(from_note(recorded, index, type_, f"an event of kind {note.kind}", birth, now))
        if settings.typed:
            appends.append(_outcome(recorded, now, settings))
    return Proposal(tuple(appends))


def _outcome(recorded: Recorded, now: dt.date, settings: Settings) -> Append:
    changed = session_scope(recorded).files
    line = f"{session_line(recorded)}. {_SAID[outcome(recorded)]}"
    content = f"{line} Changed: {', '.join(changed)}." if changed else line
    memory = from_session(recorded, "procedural", content, "the outcome of a session", now)
    return Append(memory, standing(settings.weights.noted, now))
