"""Exact McNemar tests over cells: pooled, and one for each seed. Sensitivities, never a headline.

They take the seeds of one trap as independent, which they are not (docs/statistics.md shows by how much that
over-rejects). Invariant: p is a fraction of integer counts; only cells that count on both sides are in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from analysis.pairs import Pair, paired
from analysis.records import CellRecord


@dataclass(frozen=True)
class McNemar:
    """`b` cells passed only by the first condition, `c` only by the second."""

    b: int
    c: int
    both_pass: int
    both_fail: int
    p: Fraction

    @property
    def n(self) -> int:
        """Paired cells (or traps, after a collapse)."""
        return self.b + self.c + self.both_pass + self.both_fail


def exact_p(b: int, c: int) -> Fraction:
    """Two-sided exact p of b against c discordant pairs: min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2).

    McNemar (1947) with the exact null of the sign test; 1 without a discordant pair. Raises ValueError below 0.
    """
    if b < 0 or c < 0:
        raise ValueError(f"{b} and {c} are no counts")
    n = b + c
    tail = term = 1
    for i in range(min(b, c)):
        term = term * (n - i) // (i + 1)  # the next binomial coefficient
        tail += term
    return min(Fraction(1), Fraction(2 * tail, 1 << n))


def of_pairs(pairs: Sequence[Pair]) -> McNemar:
    """The test over pairs of (first passed, second passed)."""
    found = Counter(pairs)
    b, c = found[True, False], found[False, True]
    return McNemar(b, c, found[True, True], found[False, False], exact_p(b, c))


def pooled(first: Sequence[CellRecord], second: Sequence[CellRecord]) -> McNemar:
    """Over all paired cells. Raises RecordError for sides that cannot be compared."""
    return of_pairs(list(paired(first, second).values()))


def per_seed(first: Sequence[CellRecord], second: Sequence[CellRecord]) -> Mapping[int, McNemar]:
    """One test for every seed of either side, by seed; a seed without a pair has p = 1. Raises RecordError."""
    pairs = paired(first, second)
    seeds = sorted({cell.seed for cell in (*first, *second)})
    return {seed: of_pairs([pair for (_, s), pair in pairs.items() if s == seed]) for seed in seeds}
