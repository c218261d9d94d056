"""Intervals for rates.

Invariant: an interval always contains its estimate, stays within 0..1, and does not exist without an opportunity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class Interval:
    """Lower and upper bound, 0..1, at the given confidence."""

    low: float
    high: float
    confidence: float


def wilson(successes: int, opportunities: int, confidence: float = 0.95) -> Interval | None:
    """The Wilson score interval (no continuity correction) of successes / opportunities.

    None when there was no opportunity. Raises ValueError unless 0 <= successes <= opportunities and
    0 < confidence < 1.
    """
    if not 0 <= successes <= opportunities:
        raise ValueError(f"{successes} successes of {opportunities} is impossible")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    if opportunities == 0:
        return None
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    rate = successes / opportunities
    centre = successes + z2 / 2
    half = math.sqrt(z2 * (successes * (1 - rate) + z2 / 4))
    total = opportunities + z2
    low = 0.0 if successes == 0 else (centre - half) / total
    high = 1.0 if successes == opportunities else (centre + half) / total
    return Interval(low, high, confidence)
