"""Trap-cluster bootstrap: traps are drawn with replacement, each with all its seeds; BCa intervals.

B. Efron, Better bootstrap confidence intervals, JASA 82 (1987): bias z0 from the share of replicates below the
estimate (ties count half), acceleration from the jackknife over traps. Invariant: the same counts and seed give the
same interval on every machine; where BCa is not defined the answer is None, never a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from analysis.intervals import Interval
from analysis.pairs import by_trap, paired
from analysis.records import COUNTED, CellRecord

RESAMPLES = 4999
SEED = 20260704
_BLOCK = 2_000_000  # drawn indices held at once

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Clusters:
    """One numerator and one denominator a trap; the statistic is the ratio of their sums."""

    numerators: tuple[int, ...]
    denominators: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.numerators) != len(self.denominators) or any(d < 1 for d in self.denominators):
            raise ValueError("every trap needs one numerator and one denominator above 0")


def rate_clusters(cells: Sequence[CellRecord]) -> Clusters:
    """Passes over counted cells, by trap; traps without a counted cell are in no rate."""
    found: dict[str, list[int]] = {}
    for cell in cells:
        if cell.outcome in COUNTED:
            counts = found.setdefault(cell.trap, [0, 0])
            counts[0] += cell.outcome == "pass"
            counts[1] += 1
    return Clusters(tuple(n for n, _ in found.values()), tuple(d for _, d in found.values()))


def difference_clusters(first: Sequence[CellRecord], second: Sequence[CellRecord]) -> Clusters:
    """Passes of the first less passes of the second over paired cells, by trap: the ratio is D / paired."""
    traps: Mapping[str, list[tuple[bool, bool]]] = by_trap(paired(first, second))
    scores = tuple(sum(a for a, _ in pairs) - sum(b for _, b in pairs) for pairs in traps.values())
    return Clusters(scores, tuple(len(pairs) for pairs in traps.values()))


def bca(
    clusters: Clusters, confidence: float = 0.95, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Interval | None:
    """BCa interval of sum(numerators) / sum(denominators).

    None where it is not defined: fewer than two traps, traps that are all alike, every replicate on one side of the
    estimate. Raises ValueError unless 0 < confidence < 1 and there are at least 100 resamples.
    """
    if not 0 < confidence < 1 or resamples < 100:
        raise ValueError(f"confidence {confidence} with {resamples} resamples")
    if len(clusters.numerators) < 2:
        return None
    numerators = np.array(clusters.numerators, dtype=np.float64)
    denominators = np.array(clusters.denominators, dtype=np.float64)
    estimate = float(numerators.sum() / denominators.sum())
    acceleration = _acceleration(numerators, denominators)
    replicates = _replicates(numerators, denominators, resamples, seed)
    # a tie must not hang on the order of a sum, so nearly equal is equal
    ties = np.isclose(replicates, estimate, rtol=0, atol=1e-12)
    below = float(((replicates < estimate) & ~ties).mean() + ties.mean() / 2)
    if acceleration is None or not 0 < below < 1:
        return None
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    ends = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        shifted = bias + normal.inv_cdf(share)
        room = 1 - acceleration * shifted
        if room <= 0:
            return None
        ends.append(float(np.quantile(replicates, normal.cdf(bias + shifted / room))))
    return Interval(ends[0], ends[1], confidence)


def _acceleration(numerators: Floats, denominators: Floats) -> float | None:
    """Skewness of the jackknife over traps; None when leaving a trap out never changes anything."""
    left_out = (numerators.sum() - numerators) / (denominators.sum() - denominators)
    deviations = left_out.mean() - left_out
    spread = float((deviations**2).sum())
    if math.isclose(spread, 0, abs_tol=1e-20):
        return None
    return float((deviations**3).sum() / (6 * spread**1.5))


def _replicates(numerators: Floats, denominators: Floats, resamples: int, seed: int) -> Floats:
    generator = np.random.Generator(np.random.PCG64(seed))
    traps = len(numerators)
    rows = max(1, _BLOCK // traps)
    blocks = []
    for start in range(0, resamples, rows):
        drawn = generator.integers(0, traps, size=(min(rows, resamples - start), traps))
        blocks.append(numerators[drawn].sum(axis=1) / denominators[drawn].sum(axis=1))
    return np.concatenate(blocks)
