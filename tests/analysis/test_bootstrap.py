"""The trap-cluster BCa interval: against scipy, by coverage, and where it is not defined."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap

from analysis.bootstrap import Clusters, bca, difference_clusters, rate_clusters
from analysis.records import CellRecord, Outcome


def cells(condition: str, outcomes: dict[str, list[Outcome]]) -> list[CellRecord]:
    return [CellRecord(t, "C1", condition, n, o) for t, row in outcomes.items() for n, o in enumerate(row, 1)]


def test_agrees_with_scipy() -> None:
    generator = np.random.default_rng(3)
    passed = generator.binomial(3, generator.beta(0.6, 1.4, size=60))
    ours = bca(Clusters(tuple(passed.tolist()), (3,) * 60), resamples=20_000)
    theirs = scipy_bootstrap(
        (passed / 3,), np.mean, vectorized=True, n_resamples=20_000, method="BCa", rng=np.random.default_rng(8)
    ).confidence_interval
    assert ours is not None
    assert ours.low == pytest.approx(theirs.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.high, abs=0.01)


def test_unequal_clusters_are_weighed_by_their_cells() -> None:
    generator = np.random.default_rng(4)
    sizes = generator.integers(1, 4, size=50)
    passed = generator.binomial(sizes, 0.4)

    def ratio(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:  # type: ignore[type-arg]
        return a.sum(axis=axis) / b.sum(axis=axis)  # type: ignore[no-any-return]

    ours = bca(Clusters(tuple(passed.tolist()), tuple(sizes.tolist())), resamples=20_000)
    theirs = scipy_bootstrap(
        (passed, sizes), ratio, paired=True, vectorized=True, n_resamples=20_000, rng=np.random.default_rng(9)
    ).confidence_interval
    assert ours is not None
    assert ours.low == pytest.approx(theirs.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.high, abs=0.01)


def test_the_same_seed_gives_the_same_interval() -> None:
    clusters = Clusters((3, 0, 2, 1, 2, 0, 1) * 5, (3, 1, 2, 3, 2, 2, 3) * 5)
    assert bca(clusters) == bca(clusters)
    assert bca(clusters) != bca(clusters, seed=1)


@pytest.mark.parametrize(
    "clusters",
    [Clusters((), ()), Clusters((2,), (3,)), Clusters((3, 3, 3), (3, 3, 3)), Clusters((0, 0), (3, 3))],
)
def test_where_it_is_not_defined_there_is_none(clusters: Clusters) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bca(clusters) is None


def test_impossible_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        Clusters((1,), (0,))
    with pytest.raises(ValueError, match="resamples"):
        bca(Clusters((1, 0), (1, 1)), resamples=10)
    with pytest.raises(ValueError, match="confidence"):
        bca(Clusters((1, 0), (1, 1)), 1.0)


def test_clusters_from_cells() -> None:
    a = cells("A", {"t": ["pass", "pass", "invalid"], "u": ["failed", "trapped", "pass"], "v": ["invalid"]})
    b = cells("B", {"t": ["failed", "pass", "pass"], "u": ["pass", "pass", "pass"], "v": ["pass"]})
    assert rate_clusters(a) == Clusters((2, 1), (2, 3))
    assert difference_clusters(a, b) == Clusters((1, -2), (2, 3))


def test_coverage_by_simulation() -> None:
    """95 % intervals of a correlated rate cover it about as often as they say."""
    generator = np.random.default_rng(11)
    truth, hits, folds = 0.4, 0, 300
    for _ in range(folds):
        chances = generator.beta(truth, 1 - truth, size=60)  # intra-class correlation 1/2
        passed = generator.binomial(3, chances)
        interval = bca(Clusters(tuple(passed.tolist()), (3,) * 60), resamples=999)
        assert interval is not None
        hits += interval.low <= truth <= interval.high
    assert 0.91 <= hits / folds <= 0.98
