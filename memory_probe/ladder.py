"""The ladder of conditions: code -> card and constructor, ours and those of other packages.

Other packages add a condition by the entry point group `dreambench.memory`: a callable `(Opening) -> Memory` with an
attribute `card`. Invariant: a condition is known by its code alone and opened in one place, so a new one touches
nothing of the harness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from memory_probe import aided, family, files
from memory_probe.baselines import FixedItems, NoMemory
from memory_probe.embed import Embedder
from memory_probe.opening import Condition, Opening
from memory_probe.protocol import Card, Memory, MemoryFault
from memory_probe.rungs import Make, rungs

__all__ = ["GROUP", "Condition", "Opening", "conditions", "unaided"]

GROUP = "dreambench.memory"


def _own() -> dict[str, Condition]:
    """Our own conditions: one module a group."""
    known: dict[str, Condition] = {}
    embedder = Embedder()
    for group in (_simple(), family.conditions(embedder), aided.conditions(embedder)):
        if twice := known.keys() & group.keys():
            raise MemoryFault(f"conditions claimed twice: {sorted(twice)}")
        known |= group
    return known


def _simple() -> dict[str, Condition]:
    b0 = Card("B0", "no memory", "1")
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
        **{card.code: Condition(card, _in_namespace(make)) for card, make in rungs()},
        "FILES": Condition(files.CARD, lambda o: files.FilesMemory(o.namespace), kept_by_agent=True),
        "EVIDENCE": Condition(evidence, lambda o: FixedItems(evidence, o.evidence)),
        "POISON": Condition(poison, lambda o: FixedItems(poison, o.poison)),
    }


def _in_namespace(make: Make) -> Callable[[Opening], Memory]:
    return lambda opening: make(opening.namespace)


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


def unaided(known: Mapping[str, Condition]) -> tuple[str, ...]:
    """The codes of those that need neither a model nor an extra, whatever is installed here."""
    return tuple(code for code, condition in known.items() if condition.unaided)
