"""The score of every memory for a question: a weighted sum of fifteen values, each 0..1.

Invariant: overlaps are divided by the question's side; scores are rounded to nine places, so that order does not
depend on how a machine adds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memory_probe.read.candidates import Asked
from memory_probe.store.columns import Array
from memory_probe.store.model import TYPES
from memory_probe.store.view import StoreView
from memory_probe.weights import Weights

#: How near the text of each row is to the question, 0..1.
Semantic = Callable[[StoreView, Asked], Array]


def by_words(view: StoreView, ask: Asked) -> Array:
    """Token Jaccard of the content words."""
    return jaccard(view, ask.words)


def scores(view: StoreView, ask: Asked, weights: Weights, semantic: Semantic = by_words) -> Array:
    """One score a row."""
    w = weights
    terms = values(view, ask, w, semantic)
    total = sum((getattr(w, name) * value for name, value in terms.items()), np.zeros(view.columns.size))
    return np.round(total, 9)


def values(view: StoreView, ask: Asked, weights: Weights, semantic: Semantic = by_words) -> dict[str, Array]:
    """The values that the weights of the same names multiply."""
    columns, query, empty = view.columns, ask.query, weights.empty_scope
    tag = _share(columns.tags.common(ask.tags), columns.tags.sizes() == 0, len(ask.tags), empty)
    file = _share(columns.files.common(query.paths), columns.files.empty(), len(query.paths), empty)
    symbol = _share(columns.symbols.common(query.symbols), columns.symbols.empty(), len(query.symbols), empty)
    task = _share(columns.tasks.common(ask.task), columns.tasks.sizes() == 0, len(ask.task), empty)
    populated = columns["populated"]
    strength = np.minimum(1.0, weights.provenance_base + weights.provenance_field * populated)
    return {
        "semantic": semantic(view, ask),
        "tags": tag[columns["tags"]],
        "files": file[columns["files"]],
        "symbols": symbol[columns["symbols"]],
        "task": task[columns["task"]],
        "type_prior": _prior(view, ask, weights),
        "confidence": columns["confidence"],
        "utility": columns["utility"],
        "human_verified": columns["verified"].astype(float),
        "provenance": np.where(populated > 0, strength, 0.0),
        "staleness": columns["staleness"],
        "risk": columns["risk"],
        "age": _age(view, ask, weights),
        "overscope": _overscope(view),
        "contradiction": _disputed(view),
    }


def jaccard(view: StoreView, wanted: frozenset[str]) -> Array:
    """Shared content words over all content words of both sides."""
    common = view.columns.words.common(wanted)
    union = view.columns.words.sizes() + len(wanted) - common
    share: Array = common / np.maximum(1, union)
    return share


def _share(common: Array, empty: Array, asked_for: int, empty_value: float) -> Array:
    """Overlap by the question's side: one value a distinct scope."""
    share: Array = np.where(empty, empty_value, common / asked_for if asked_for else 0.0)
    return share


def _prior(view: StoreView, ask: Asked, weights: Weights) -> Array:
    if not ask.phase:
        return np.full(view.columns.size, weights.no_phase)
    preferred = weights.phases[ask.phase]
    table = np.array([weights.preferred if t in preferred else weights.other for t in TYPES])
    prior: Array = table[view.columns["type"]]
    return prior


def _age(view: StoreView, ask: Asked, weights: Weights) -> Array:
    days = np.maximum(0, ask.query.now.toordinal() - view.columns["told"])
    age: Array = np.minimum(1.0, np.log1p(days) / np.log1p(weights.age_days))
    return age


def _overscope(view: StoreView) -> Array:
    """1 for a memory that states no scope at all: it claims to hold everywhere."""
    columns = view.columns
    bare: Array = columns.files.empty()[columns["files"]] & columns.symbols.empty()[columns["symbols"]]
    bare &= (columns.tasks.sizes() == 0)[columns["task"]]
    return bare.astype(float)


def _disputed(view: StoreView) -> Array:
    found = np.zeros(view.columns.size)
    for number in view.rivals:
        found[number - 1] = view.disputed(number)
    return found
