"""The rungs of the ladder that need no model: their cards, and how each is opened in a namespace.

Invariant: a card says what the condition keeps, how it ranks and what it can tell of a note; a card marked repaired
belongs to a condition whose published version cut the evidence away before it could be read.

Capabilities: the fields that an item shows (`dates`, `types`, `scopes`, `tasks`, `provenance`), `selective` (it leaves
text out by its own policy and names it in a receipt), `no-k` (it takes no notice of k).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from memory_probe.baselines import AllEvents, VerbatimMemory
from memory_probe.passages import by_cosine, passages
from memory_probe.protocol import Card, Memory
from memory_probe.shelf import Rank, Shelf, Write, by_words
from memory_probe.summaries import Tracker, reflection, subtasks, summary
from memory_probe.verbatim import by_bm25, by_recency, by_words_and_path, every_event, first_event

Make = Callable[[Path], Memory]


def rungs() -> tuple[tuple[Card, Make], ...]:
    """(card, maker) of each; the maker takes the namespace folder."""
    return (*_raw(), *_written(), *_verbatim())


def _raw() -> list[tuple[Card, Make]]:
    what = "raw trajectories in passages of at most 150 words cut at line ends"
    return [
        _shelf(_repaired("B1", f"{what}; words found", "dates", "provenance"), passages, by_words),
        _shelf(
            _repaired("B2", f"{what}; vectors: cosine of word counts (no embedding model)", "dates", "provenance"),
            passages,
            by_cosine,
        ),
    ]


def _written() -> list[tuple[Card, Make]]:
    how = "(extractive, events first, at most 250 words; words found)"
    kept = ("dates", "provenance", "selective")
    b3 = _repaired("B3", f"one free-form reflection a session {how}", *kept)
    b4 = _repaired("B4", f"one untyped summary a session {how}", *kept)
    b6 = _repaired("B6", f"at most 3 subtask memories a session {how}", *kept, "tasks")
    b7 = _repaired("B7", "one evolving task tracker a sequence (extractive, at most 250 words)", "dates", "selective")
    return [
        _shelf(b3, reflection, by_words),
        _shelf(b4, summary, by_words),
        _shelf(b6, subtasks, by_words),
        (b7, partial(Tracker, b7)),
    ]


def _verbatim() -> list[tuple[Card, Make]]:
    seen = ("dates", "scopes", "types")
    b5 = Card("B5", "verbatim: one record an event, words found plus scope path, ties newest first", "1", seen)
    paper = Card(
        "B5-paper",
        "verbatim: one record a trajectory with its first event only, as published; ranked as B5",
        "1",
        (*seen, "selective"),
    )
    recency = Card("B5-recency", "verbatim: one record an event, newest first among matches", "1", seen)
    okapi = Card("B5-bm25", "verbatim: one record an event, BM25 (k1 1.5, b .75)", "1", seen)
    whole = Card("ALL", "every event, oldest first, whole, while the token budget lasts; no k", "1", (*seen, "no-k"))
    return [
        (b5, partial(VerbatimMemory, b5)),
        _shelf(paper, first_event, by_words_and_path),
        _shelf(recency, every_event, by_recency),
        _shelf(okapi, every_event, by_bm25),
        (whole, partial(AllEvents, whole)),
    ]


def _repaired(code: str, title: str, *capabilities: str) -> Card:
    return Card(code, title, "1", capabilities, repaired=True)


def _shelf(card: Card, write: Write, rank: Rank) -> tuple[Card, Make]:
    return card, lambda namespace: Shelf(card, namespace, write, rank)
