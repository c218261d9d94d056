"""From scores to a view: order, fill the budget, and say for every other candidate why it is not there.

Invariant: at most k items and the budget's tokens, whatever the store holds; an item that overflows is skipped and
the next is tried.
"""

from __future__ import annotations

import numpy as np

from memory_probe.protocol import Budget, Rejected, State, View, ViewItem
from memory_probe.read.candidates import Asked, candidates
from memory_probe.read.gate import Policy, reason, refusals
from memory_probe.read.score import Semantic, by_words, scores
from memory_probe.store.columns import Array
from memory_probe.store.model import Status
from memory_probe.store.view import StoreView
from memory_probe.weights import Weights

STATE_OF: dict[Status, State] = {
    "active": "active",
    "superseded": "superseded",
    "stale": "expired",
    "requires_review": "unknown",
    "deleted": "retracted",
}


class Refused:
    """Rejections that were made before: a large store says the same of most memories at every reading."""

    _MOST = 200_000

    def __init__(self) -> None:
        self._made: dict[str, dict[int, Rejected]] = {}
        self._count = 0

    def all(self, view: StoreView, rows: list[int], why: str) -> list[Rejected]:
        """One rejection a row, all for one reason."""
        made = self._made.setdefault(why, {})
        fresh = {row: Rejected(view.memory(row + 1).content, why) for row in rows if row not in made}
        if self._count + len(fresh) > self._MOST:
            self._made, self._count = {}, 0
            return [made.get(row) or fresh[row] for row in rows]
        made.update(fresh)
        self._count += len(fresh)
        return [made[row] for row in rows]


def tightened(budget: Budget, weights: Weights) -> Budget:
    """The smaller of the run's budget and the variant's own."""
    k = budget.k if weights.k is None else min(weights.k, weights.k if budget.k is None else budget.k)
    return Budget(k, budget.tokens if weights.tokens is None else min(weights.tokens, budget.tokens))


def look_up(
    view: StoreView,
    ask: Asked,
    policy: Policy,
    weights: Weights,
    budget: Budget,
    before: Refused,
    semantic: Semantic = by_words,
) -> tuple[View, tuple[int, ...]]:
    """The view, and the ids of the memories in it, in order."""
    refused = refusals(view, ask, policy, weights)
    score = scores(view, ask, weights, semantic)
    ranked = _ranked(view, score, candidates(view), refused)
    passed = refused[ranked] < 0
    enough = passed if weights.admit is None else passed & (score[ranked] >= weights.admit)
    taken, left = _fill(view, ranked[enough].tolist(), tightened(budget, weights), before)
    for row in ranked[passed & ~enough].tolist():
        left.append(Rejected(view.memory(row + 1).content, f"score: {score[row]:.3f} is below {weights.admit:.3f}"))
    left += _refused(view, ranked[~passed], refused, before)
    items = tuple(_item(view, number, taken) for number in taken)
    return View(items, tuple(left), len(ranked)), tuple(taken)


def _fill(view: StoreView, rows: list[int], budget: Budget, before: Refused) -> tuple[list[int], list[Rejected]]:
    """Take rows in order while they fit: (ids taken, the others with reasons)."""
    taken: list[int] = []
    left: list[Rejected] = []
    used = 0
    for place, row in enumerate(rows):
        if budget.k is not None and len(taken) >= budget.k:
            return taken, left + before.all(view, rows[place:], f"out-ranked: the view holds {budget.k} items")
        size = int(view.columns["tokens"][row])
        if used + size > budget.tokens:
            why = f"budget: {used} + {size} tokens exceed {budget.tokens}"
            left.append(Rejected(view.memory(row + 1).content, why))
        else:
            taken.append(row + 1)
            used += size
    return taken, left


def _refused(view: StoreView, rows: Array, refused: Array, before: Refused) -> list[Rejected]:
    """What the gates refused, in rank order."""
    made: dict[int, Rejected] = {}
    codes = refused[rows]
    for code in np.unique(codes).tolist():
        members = rows[codes == code].tolist()
        made.update(zip(members, before.all(view, members, reason(code)), strict=True))
    return [made[row] for row in rows.tolist()]


def _ranked(view: StoreView, score: Array, open_: Array, refused: Array) -> Array:
    """Rows by score, then the newest update, then id; what a gate refused comes last, in the same order."""
    rows = np.arange(view.columns.size)
    order = np.lexsort((rows, -view.columns["updated"], -score, refused >= 0))
    kept: Array = order[open_[order]]
    return kept


def _item(view: StoreView, number: int, taken: list[int]) -> ViewItem:
    memory = view.memory(number)
    later = [taken.index(n) + 1 for n in sorted(view.superseders.get(number, ())) if n in taken]
    return ViewItem(
        text=memory.content,
        date=memory.valid_from,
        type=memory.type,
        scope=memory.scope,
        state=STATE_OF[view.status(number)],
        successor=later[0] if later else None,
        provenance=str(memory.provenance).replace(":", " ").replace("/", " ") or None,
    )
