"""The rungs of the ladder that need more than this package: a model that writes, or an embedder that ranks.

Invariant: each is the condition of the same name without the ending, with one part in the place of another; opened
without what it needs it raises MemoryFault and never does without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from memory_probe import embed, model_writer
from memory_probe.embed import Embedder
from memory_probe.model import required
from memory_probe.model_writer import ModelShelf, ModelTracker, ModelWrite
from memory_probe.opening import Condition, Opening
from memory_probe.passages import by_meaning, passages
from memory_probe.protocol import Card, Memory
from memory_probe.shelf import Shelf, by_words
from memory_probe.writer import LIMIT

_Open = Callable[[Opening], Memory]


def conditions(embedder: Embedder) -> dict[str, Condition]:
    """By code."""
    found = [_embedded(embedder), *_written()]
    return {condition.card.code: condition for condition in found}


def _embedded(embedder: Embedder) -> Condition:
    title = "raw trajectories in passages of at most 150 words cut at line ends; vectors: cosine of MiniLM"
    card = Card("B2-embed", title, f"1+{embed.version()[:16]}", ("dates", "provenance"), repaired=True)

    def open_(opening: Opening) -> Memory:
        embedder.ready()
        return Shelf(card, opening.namespace, passages, partial(by_meaning, embedder))

    return Condition(card, open_, embed.EXTRA)


def _written() -> list[Condition]:
    how = f"(written by a model, at most {LIMIT} words"
    kept = ("dates", "provenance", "rewrites")
    b3 = _card("B3-model", "reflection", f"one free-form reflection a session {how}; words found)", *kept)
    b4 = _card("B4-model", "summary", f"one untyped summary a session {how}; words found)", *kept)
    b6 = _card("B6-model", "subtasks", f"at most 3 subtask memories a session {how}; words found)", *kept, "tasks")
    b7 = _card("B7-model", "tracker", f"one evolving task tracker a sequence {how})", "dates", "rewrites")
    return [
        Condition(b3, _shelf(b3, model_writer.reflection)),
        Condition(b4, _shelf(b4, model_writer.summary)),
        Condition(b6, _shelf(b6, model_writer.subtasks)),
        Condition(b7, lambda opening: ModelTracker(b7, opening.namespace, required(b7, opening.model))),
    ]


def _shelf(card: Card, write: ModelWrite) -> _Open:
    return lambda opening: ModelShelf(card, opening.namespace, write, by_words, required(card, opening.model))


def _card(code: str, kind: str, title: str, *capabilities: str) -> Card:
    return Card(code, title, model_writer.version(kind), capabilities, needs_model=True, repaired=True)
