"""Verbatim memory: events as they were told, in four variants that differ in one policy each.

Invariant: a record is the whole text of one event, with its date, type and scope.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_probe.lexical import asked, bm25
from memory_probe.protocol import Episode, Note, Query, Rejected
from memory_probe.shelf import Kept, Writing, by_words


def every_event(episode: Episode) -> Writing:
    """One record an event."""
    return Writing(tuple(_kept(note) for note in episode.notes))


def first_event(episode: Episode) -> Writing:
    """One record a trajectory: its first event. The published code did this, and lost every later event."""
    why = "one record a trajectory: only its first event is kept"
    return Writing(
        tuple(_kept(note) for note in episode.notes[:1]),
        tuple(Rejected(note.text, why) for note in episode.notes[1:]),
    )


def by_words_and_path(query: Query, held: Sequence[Kept]) -> list[float]:
    """Share of the query's words found, + 1 if a scope path is one of the query's."""
    shares = by_words(query, held)
    return [s + (1.0 if set(k.scope.files) & set(query.paths) else 0.0) for s, k in zip(shares, held, strict=True)]


def by_recency(query: Query, held: Sequence[Kept]) -> list[float]:
    """All matches alike, so that the newest comes first."""
    return [float(score > 0) for score in by_words_and_path(query, held)]


def by_bm25(query: Query, held: Sequence[Kept]) -> list[float]:
    """BM25 over the stored events; no bonus for a path."""
    return bm25(asked(query), [kept.text for kept in held])


def in_order(query: Query, held: Sequence[Kept]) -> list[float]:
    """Everything matches, oldest told first."""
    return [float(len(held) - place) for place in range(len(held))]


def _kept(note: Note) -> Kept:
    return Kept(note.text, note.date, note.kind, note.scope)
