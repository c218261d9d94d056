"""Power of the clustered test: where it rejects, what it can see, and how many traps and seeds a difference needs.

With k traps of equal weight the test is the exact sign test, so boundary and power are binomial. Under within-trap
correlation traps have unequal weights and power is simulated: a trap's pass probability for a condition is drawn from
a Beta distribution with the condition's mean and intra-class correlation rho = 1 / (a + b + 1), the seeds from that.
Invariant: simulations are seeded and reproducible; a test inside them is the exact one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from analysis.clustered import sign_test
from analysis.mcnemar import exact_p

SIMULATIONS = 2000
SEED = 20260704
LARGEST = 20_000  # traps beyond which a search gives up

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Boundary:
    """The smallest majority of k equal traps that the test rejects at alpha: `wins` to k - wins, with its p."""

    k: int
    wins: int
    p: Fraction


@dataclass(frozen=True)
class Design:
    """Two conditions with pass rates 0..1 on `traps` traps of `seeds` seeds; `correlation` is within a trap, 0..1."""

    traps: int
    seeds: int
    first: float
    second: float
    correlation: float

    def __post_init__(self) -> None:
        shares = (self.first, self.second, self.correlation)
        if self.traps < 1 or self.seeds < 1 or not all(0 <= share <= 1 for share in shares):
            raise ValueError(f"impossible design {self}")


@dataclass(frozen=True)
class Rejections:
    """How often each test rejected in `simulations`, as shares; the standard error is sqrt(x (1 - x) / simulations)."""

    design: Design
    clustered: float
    pooled: float
    simulations: int


def boundary(k: int, alpha: float = 0.05) -> Boundary | None:
    """Where k equal traps reject; None when not even k to 0 does. Raises ValueError for k < 0."""
    if k < 0:
        raise ValueError(f"{k} traps")
    share = Fraction(str(alpha))
    most = (share.numerator << k) // share.denominator // 2  # sign assignments that one tail may have
    tail, term, lost = 0, 1, 0  # term is the number of ways to lose `lost` traps
    while tail + term <= most and 2 * lost < k:
        tail += term
        term = term * (k - lost) // (lost + 1)
        lost += 1
    return Boundary(k, k - lost + 1, Fraction(2 * tail, 1 << k)) if lost else None


def power(k: int, share: float, alpha: float = 0.05) -> float:
    """Probability that k equal traps, each won with probability `share`, reject in the winner's favour."""
    if not 0 <= share <= 1:
        raise ValueError(f"share {share}")
    found = boundary(k, alpha)
    return 0.0 if found is None else _win(found, share)


def detectable(k: int, wanted: float = 0.80, alpha: float = 0.05) -> float | None:
    """The minimum detectable effect: the smallest share above 1/2 (4 decimals up) with at least the wanted power.

    None when k equal traps cannot reach it.
    """
    found = boundary(k, alpha)
    if found is None:
        return None
    low, high = 5000, 10000
    while low < high:
        middle = (low + high) // 2
        if _win(found, middle / 10000) >= wanted:
            high = middle
        else:
            low = middle + 1
    return low / 10000


def simulate(design: Design, alpha: float = 0.05, *, simulations: int = SIMULATIONS, seed: int = SEED) -> Rejections:
    """Share of simulated folds that the clustered test and the pooled McNemar test reject.

    Equal rates give the size of the tests, unequal ones the power.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    shape = (simulations, design.traps)
    first = generator.binomial(design.seeds, _chances(generator, design.first, design.correlation, shape))
    second_chances = _chances(generator, design.second, design.correlation, shape)
    second = generator.binomial(design.seeds, second_chances)
    # given the sums of a trap, the seeds that both pass are drawn without replacement
    both = generator.hypergeometric(first, design.seeds - first, second)
    limit = Fraction(str(alpha))
    clustered = pooled = 0
    for a, b, shared in zip(first, second, both, strict=True):
        clustered += _p(tuple(sorted((a - b).tolist()))) <= limit
        pooled += _pooled(int((a - shared).sum()), int((b - shared).sum())) <= limit
    return Rejections(design, clustered / simulations, pooled / simulations, simulations)


def traps_needed(
    design: Design, wanted: float = 0.80, alpha: float = 0.05, *, simulations: int = 500, seed: int = SEED
) -> int | None:
    """Traps with which the clustered test reaches the wanted power; `design.traps` is where the search starts.

    Found by doubling and halving on simulated power, so right to within its error; None beyond LARGEST or for equal
    rates.
    """
    if design.first == design.second:
        return None

    def enough(traps: int) -> bool:
        tried = Design(traps, design.seeds, design.first, design.second, design.correlation)
        return simulate(tried, alpha, simulations=simulations, seed=seed).clustered >= wanted

    high = design.traps
    while not enough(high):
        high *= 2
        if high > LARGEST:
            return None
    low = 1 if high == design.traps else high // 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def needed_by_seeds(
    design: Design, seeds: Sequence[int] = (1, 3, 5), wanted: float = 0.80, alpha: float = 0.05, simulations: int = 500
) -> dict[int, int | None]:
    """`traps_needed` for each number of seeds a trap."""
    found = {}
    for count in seeds:
        tried = Design(design.traps, count, design.first, design.second, design.correlation)
        found[count] = traps_needed(tried, wanted, alpha, simulations=simulations)
    return found


def _win(edge: Boundary, share: float) -> float:
    """Probability of at least the boundary's wins."""
    if share in (0, 1):
        return float(share)
    # in logarithms, because a binomial coefficient of many traps is no float
    won, lost, ways = math.log(share), math.log1p(-share), math.lgamma(edge.k + 1)
    return math.fsum(
        math.exp(ways - math.lgamma(i + 1) - math.lgamma(edge.k - i + 1) + i * won + (edge.k - i) * lost)
        for i in range(edge.wins, edge.k + 1)
    )


def _chances(generator: np.random.Generator, mean: float, correlation: float, shape: tuple[int, int]) -> Floats:
    """A pass probability for every trap of every simulation."""
    if correlation == 0 or mean in (0, 1):
        return np.full(shape, mean)
    if correlation == 1:
        return (generator.random(shape) < mean).astype(np.float64)
    weight = 1 / correlation - 1
    return generator.beta(mean * weight, (1 - mean) * weight, size=shape)


@lru_cache(maxsize=100_000)
def _p(scores: tuple[int, ...]) -> Fraction:
    return sign_test(scores)


@lru_cache(maxsize=100_000)
def _pooled(b: int, c: int) -> Fraction:
    return exact_p(b, c)
