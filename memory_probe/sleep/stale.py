"""Operator `stale`: what a staleness notice, a failed session or a passed last day does to memories.

Invariant: it only touches active memories, and only ever makes them less believed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from memory_probe.sleep.base import Settings, outcome, related
from memory_probe.store.derived import Change, Proposal
from memory_probe.store.model import STATUSES
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView


def stale(view: StoreView, new: Sequence[Recorded], now: dt.date, settings: Settings) -> Proposal:
    """Staleness 1 by notice, risk by failed use, then the thresholds and the last days."""
    stalest = _noticed(view, new, settings)
    risks = _failed_use(view, new, settings)
    weights, changes = settings.weights, []
    for number in sorted({*stalest, *risks, *_over(view, settings), *view.expiring()}):
        held = view.standing(number)
        if held.status != "active":
            continue
        wanted: dict[str, object] = {}
        why: list[str] = []
        staleness, risk = (1.0 if number in stalest else held.staleness), risks.get(number, held.risk)
        if staleness != held.staleness:
            wanted["staleness"] = staleness
            why.append(stalest[number])
        if risk != held.risk:
            wanted["risk"] = risk
            why.append("shown in a session that failed")
        if held.valid_until is not None and held.valid_until < now:
            wanted["status"] = "stale"
            why.append(f"valid until {held.valid_until.isoformat()}")
        elif staleness >= weights.stale_at:
            wanted["status"] = "stale"
        elif risk >= weights.review_at:
            wanted["status"] = "requires_review"
            why.append(f"risk {risk:.2f}")
        if wanted:
            changes.append(Change(number, wanted, "; ".join(why) or f"staleness {staleness:.2f}"))
    return Proposal(changes=tuple(changes))


def _noticed(view: StoreView, new: Sequence[Recorded], settings: Settings) -> dict[int, str]:
    found: dict[int, str] = {}
    for recorded in new:
        for index, note in enumerate(recorded.episode.notes, 1):
            if note.kind != "staleness":
                continue
            told = (note.date, recorded.seq, index)
            for number in related(view, recorded.episode.repository, note.scope, note.text, told, settings):
                found.setdefault(number, f"a staleness notice of {note.date.isoformat()}")
    return found


def _failed_use(view: StoreView, new: Sequence[Recorded], settings: Settings) -> dict[int, float]:
    risks: dict[int, float] = {}
    for recorded in new:
        if outcome(recorded) != "failed":
            continue
        for number in recorded.viewed:
            if 1 <= number <= len(view):
                before = risks.get(number, view.standing(number).risk)
                risks[number] = min(1.0, round(before + settings.weights.failed_session_risk, 6))
    return risks


def _over(view: StoreView, settings: Settings) -> list[int]:
    columns = view.columns
    high = (columns["staleness"] >= settings.weights.stale_at) | (columns["risk"] >= settings.weights.review_at)
    rows = (high & (columns["status"] == STATUSES.index("active"))).nonzero()[0]
    return [int(row) + 1 for row in rows]
