"""Operator `capsules`: verbatim raw evidence, one capsule for every event.

Invariant: a capsule's text is the event's, byte for byte.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from memory_probe.sleep.base import Settings, from_note
from memory_probe.store.derived import Proposal
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView


def capsules(view: StoreView, new: Sequence[Recorded], now: dt.date, settings: Settings) -> Proposal:
    """One episodic memory an event, with its scope, date and last day."""
    birth = settings.weights.capsule
    return Proposal(
        tuple(
            from_note(recorded, index, "episodic", "verbatim evidence", birth, now)
            for recorded in new
            for index, note in enumerate(recorded.episode.notes, 1)
            if note.text.strip()
        )
    )
