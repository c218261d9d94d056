"""Agreement of two raters who put the same cases into named categories: Cohen's kappa with an interval.

J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20 (1960), 37-46:
kappa = (p_o - p_e) / (1 - p_e), p_o the share of cases in which both say the same, p_e the sum over categories of the
product of both raters' shares. Invariant: kappa is a fraction of integer counts; where it or its interval is not
defined the answer is None with the reason, never a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from analysis.intervals import Interval

RESAMPLES = 4999
SEED = 20260704
_BLOCK = 2_000_000  # drawn indices held at once

NO_CASE = "no case was rated by both"
ONE_WORD = "both raters used one and the same category throughout"
NO_SPREAD = "all cases are alike, so drawing them again shows no spread"
FEW = "too few redrawn samples have a kappa"

Pair = tuple[str, str]  # what the first and the second rater said of one case


@dataclass(frozen=True)
class Agreement:
    """`confusion` counts pairs; `why` says what of kappa and interval is not defined, "" when nothing.

    `expected` is p_e. The interval lies within -1..1.
    """

    n: int
    agreed: int
    expected: Fraction | None
    kappa: Fraction | None
    interval: Interval | None
    confusion: Mapping[Pair, int]
    why: str = ""


def agreement(
    pairs: Sequence[Pair], confidence: float = 0.95, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Agreement:
    """Kappa over cases, with the percentile interval of a seeded bootstrap over cases.

    Redrawn samples without a kappa are left out; when they are more than a twentieth there is no interval. Raises
    ValueError unless 0 < confidence < 1 and there are at least 100 resamples.
    """
    if not 0 < confidence < 1 or resamples < 100:
        raise ValueError(f"confidence {confidence} with {resamples} resamples")
    confusion, n = Counter(pairs), len(pairs)
    if not n:
        return Agreement(0, 0, None, None, None, confusion, NO_CASE)
    agreed = sum(a == b for a, b in pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = Fraction(sum(count * second[word] for word, count in first.items()), n * n)
    if expected == 1:
        return Agreement(n, agreed, expected, None, None, confusion, ONE_WORD)
    kappa = (Fraction(agreed, n) - expected) / (1 - expected)
    if agreed == n:
        return Agreement(n, agreed, expected, kappa, None, confusion, NO_SPREAD)
    drawn = _replicates(pairs, resamples, seed)
    if len(drawn) < 0.95 * resamples:
        return Agreement(n, agreed, expected, kappa, None, confusion, FEW)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Agreement(n, agreed, expected, kappa, Interval(float(low), float(high), confidence), confusion)


def against_the_rest(pairs: Sequence[Pair], category: str) -> list[Pair]:
    """The pairs with every other category as one: agreement on a single category is `agreement` of this."""
    return [(a if a == category else "other", b if b == category else "other") for a, b in pairs]


def _replicates(pairs: Sequence[Pair], resamples: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Kappas of redrawn samples, without those that have none. Counts stay integers up to the last division."""
    n, words = len(pairs), sorted({word for pair in pairs for word in pair})
    sides = [np.array([words.index(pair[side]) for pair in pairs]) for side in (0, 1)]
    same = sides[0] == sides[1]
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _BLOCK // n)
    found = []
    for start in range(0, resamples, rows):
        drawn = generator.integers(0, n, size=(min(rows, resamples - start), n))
        by_chance = np.zeros(len(drawn), dtype=np.int64)
        for number in range(len(words)):
            first, second = ((side == number)[drawn].sum(axis=1) for side in sides)
            by_chance += first * second
        room = n * n - by_chance
        defined = room > 0
        found.append((n * same[drawn].sum(axis=1) - by_chance)[defined] / room[defined])
    return np.concatenate(found)
