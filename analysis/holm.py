"""Holm's step-down adjustment over the registered slots of a family.

S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979). Invariant: the number
of slots m is the number registered; an unavailable slot (None) takes p = 1 and stays, so nothing that drops out can
make the others easier.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction


def holm(slots: Mapping[str, Fraction | None]) -> dict[str, Fraction]:
    """Adjusted p of every slot, in the order given: max over smaller ones of (m - rank) p, at most 1.

    Raises ValueError for a p outside 0..1.
    """
    raw = {name: Fraction(1) if p is None else p for name, p in slots.items()}
    if bad := [name for name, p in raw.items() if not 0 <= p <= 1]:
        raise ValueError(f"p outside 0..1: {', '.join(bad)}")
    adjusted: dict[str, Fraction] = {}
    least = Fraction(0)
    for rank, name in enumerate(sorted(raw, key=lambda n: raw[n])):
        least = max(least, min(Fraction(1), (len(raw) - rank) * raw[name]))
        adjusted[name] = least
    return {name: adjusted[name] for name in raw}
