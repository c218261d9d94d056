"""The cost frontier: which conditions no other one beats on cost and on Pass@1 at once.

Invariant: a condition whose cost or rate was not measured is neither on the frontier nor beats another.
"""

from __future__ import annotations

from collections.abc import Mapping

Place = tuple[float | None, float | None]  # cost (less is better), rate (more is better)


def frontier(places: Mapping[str, Place]) -> frozenset[str]:
    """Names that no other beats: costs no more and passes no less, and is better in one of the two (Pareto)."""
    known = {name: (x, y) for name, (x, y) in places.items() if x is not None and y is not None}
    return frozenset(
        name
        for name, (x, y) in known.items()
        if not any(a <= x and b >= y and (a, b) != (x, y) for a, b in known.values())
    )
