"""Operator `ground`: what names no evidence is not believed.

Invariant: after it, no active memory is without provenance.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from memory_probe.sleep.base import Settings
from memory_probe.store.derived import Change, Proposal
from memory_probe.store.model import STATUSES
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView


def ground(view: StoreView, new: Sequence[Recorded], now: dt.date, settings: Settings) -> Proposal:
    """Ungrounded active memories wait for review, with little confidence and some risk."""
    columns, weights = view.columns, settings.weights
    rows = ((columns["populated"] == 0) & (columns["status"] == STATUSES.index("active"))).nonzero()[0]
    changes = []
    for number in (int(row) + 1 for row in rows):
        held = view.standing(number)
        wanted: dict[str, object] = {
            "status": "requires_review",
            "confidence": min(held.confidence, weights.ungrounded_confidence),
            "risk": max(held.risk, weights.ungrounded_risk),
        }
        changes.append(Change(number, wanted, "no provenance"))
    return Proposal(changes=tuple(changes))
