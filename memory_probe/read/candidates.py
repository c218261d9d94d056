"""The question, prepared once: words, tags, phase, and which rows may be considered at all.

Invariant: a deleted memory is never a candidate; everything else is, and is rejected aloud if it is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_probe import text
from memory_probe.protocol import Query
from memory_probe.store.columns import Array
from memory_probe.store.model import STATUSES
from memory_probe.store.view import StoreView

_CUES = {
    "implement": r"add|adds|implement|write|create|extend|support|build|introduce|provide|make|new",
    "debug": r"fix|bug|bugs|crash|crashes|traceback|debug|diagnose|broken|fails|failing|regression",
    "review": r"review|reviewer|approve|approval|feedback|comments",
}
_PHASES = {phase: re.compile(rf"\b(?:{cues})\b", re.I) for phase, cues in _CUES.items()}


@dataclass(frozen=True)
class Asked:
    """A query with what is derived from it. `history` asks for what no longer stands, too."""

    query: Query
    history: bool
    words: frozenset[str]
    task: frozenset[str]
    tags: frozenset[str]
    phase: str


def asked(query: Query, history: bool = False) -> Asked:
    """Prepare a query."""
    task = text.words(query.task)
    tags = task | text.stems(query.paths)
    return Asked(query, history, text.words(f"{query.prompt} {query.task}"), task, tags, phase(query.prompt))


def phase(prompt: str) -> str:
    """implement, debug or review: the phase with most cue words (the first named wins a tie); "" for none."""
    counts = {name: len(cue.findall(prompt)) for name, cue in _PHASES.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else ""


def candidates(view: StoreView) -> Array:
    """A mask of the rows that may be considered."""
    mask: Array = view.columns["status"] != STATUSES.index("deleted")
    return mask
