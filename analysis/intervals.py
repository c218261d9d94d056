"""Intervals for rates.

Invariant: an interval always contains its estimate, stays within 0..1, and does not exist without an opportunity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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


def clopper_pearson(successes: int, opportunities: int, confidence: float = 0.95) -> Interval | None:
    """The exact interval of C. J. Clopper and E. S. Pearson, Biometrika 26 (1934), to the last digits of a float.

    None when there was no opportunity. Raises ValueError as `wilson`.
    """
    if not 0 <= successes <= opportunities:
        raise ValueError(f"{successes} successes of {opportunities} is impossible")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    if opportunities == 0:
        return None
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else _where(lambda p: _at_least(successes, opportunities, p) >= tail)
    failures = opportunities - successes
    high = 1.0 if failures == 0 else 1 - _where(lambda q: _at_least(failures, opportunities, q) >= tail)
    return Interval(low, high, confidence)


def _where(reached: Callable[[float], bool]) -> float:
    """The smallest p in 0..1 at which a condition holds that holds at 1 and at every p after its first."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _at_least(successes: int, opportunities: int, p: float) -> float:
    """P(X >= successes) of a binomial X; 0 < p < 1."""
    whole = math.lgamma(opportunities + 1)
    return math.fsum(
        math.exp(
            whole
            - math.lgamma(k + 1)
            - math.lgamma(opportunities - k + 1)
            + k * math.log(p)
            + (opportunities - k) * math.log1p(-p)
        )
        for k in range(successes, opportunities + 1)
    )
