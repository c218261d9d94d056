"""Majority collapse: one pass or fail a trap and condition, by the majority of its seeds. A sensitivity.

Invariant: a trap is in only if every planned seed of it is paired (the published rule) and neither side is tied;
what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.mcnemar import McNemar, of_pairs
from analysis.pairs import by_trap, paired
from analysis.records import CellRecord


@dataclass(frozen=True)
class Majority:
    """Exact McNemar over traps; `incomplete` traps lack a paired seed, `tied` ones have a tie on a side."""

    test: McNemar
    incomplete: int
    tied: int


def majority(first: Sequence[CellRecord], second: Sequence[CellRecord]) -> Majority:
    """Collapse and test. The planned seeds are those of either side. Raises RecordError as `pairs.paired`."""
    cells = (*first, *second)
    planned = len({cell.seed for cell in cells})
    traps = {cell.trap for cell in cells}
    complete = [pairs for pairs in by_trap(paired(first, second)).values() if len(pairs) == planned]
    votes = [(sum(a for a, _ in pairs), sum(b for _, b in pairs)) for pairs in complete]
    clear = [(2 * a > planned, 2 * b > planned) for a, b in votes if planned not in (2 * a, 2 * b)]
    return Majority(of_pairs(clear), len(traps) - len(complete), len(complete) - len(clear))
