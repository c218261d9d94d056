"""The ladder of conditions: code -> card and constructor, ours and those of other packages.

Other packages add a condition by the entry point group `dreambench.memory`: a callable `(Opening) -> Memory` with an
attribute `card`. Invariant: a condition is known by its code alone and opened in one place, so a new one touches
nothing of the harness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from memory_probe.baselines import AllEvents, FixedItems, NoMemory, VerbatimMemory
from memory_probe.protocol import Card, Memory, MemoryFault, ViewItem

GROUP = "dreambench.memory"


@dataclass(frozen=True)
class Opening:
    """What a condition is opened with: an empty namespace folder, and the items of an instrument."""

    namespace: Path
    evidence: tuple[ViewItem, ...] = ()
    poison: tuple[ViewItem, ...] = ()


@dataclass(frozen=True)
class Condition:
    card: Card
    open: Callable[[Opening], Memory]


def _own() -> dict[str, Condition]:
    b0 = Card("B0", "no memory", "1")
    b5 = Card(
        "B5",
        "verbatim: one record an event, words found plus scope path, ties newest first",
        "1",
        ("dates", "scopes"),
    )
    everything = Card(
        "ALL",
        "every event, oldest first, whole, while the token budget lasts; no k",
        "1",
        ("dates", "scopes"),
    )
    evidence = Card(
        "EVIDENCE",
        "instrument: what the trap needs, and nothing else",
        "1",
        ("dates", "scopes"),
        instrument=True,
    )
    poison = Card("POISON", "instrument: only what must not be used", "1", ("dates", "scopes"), instrument=True)
    return {
        "B0": Condition(b0, lambda o: NoMemory(b0)),
        "B5": Condition(b5, lambda o: VerbatimMemory(b5, o.namespace)),
        "ALL": Condition(everything, lambda o: AllEvents(everything, o.namespace)),
        "EVIDENCE": Condition(evidence, lambda o: FixedItems(evidence, o.evidence)),
        "POISON": Condition(poison, lambda o: FixedItems(poison, o.poison)),
    }


def conditions() -> Mapping[str, Condition]:
    """All conditions by code. Raises MemoryFault when two packages claim one code."""
    known = _own()
    for point in entry_points(group=GROUP):
        opener = point.load()
        card: Card = opener.card
        if card.code in known:
            raise MemoryFault(f"condition {card.code} is claimed twice (entry point {point.name})")
        known[card.code] = Condition(card, opener)
    return known
