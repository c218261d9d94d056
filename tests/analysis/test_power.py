"""Boundaries and power against scipy, and size of the tests by simulation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from analysis.power import Design, boundary, detectable, needed_by_seeds, power, simulate, traps_needed


@given(st.integers(0, 120))
def test_the_boundary_is_the_first_to_reject(k: int) -> None:
    edge = boundary(k)
    if k < 6:
        assert edge is None
        return
    assert edge is not None
    assert 2 * binom.sf(edge.wins - 1, k, 0.5) <= 0.05 < 2 * binom.sf(edge.wins - 2, k, 0.5)


def test_sixty_traps() -> None:
    edge = boundary(60)
    assert edge is not None
    assert (edge.wins, round(float(edge.p), 4)) == (39, 0.0273)
    assert power(60, 0.7) == pytest.approx(binom.sf(38, 60, 0.7), rel=1e-10)


def test_many_traps_are_no_overflow() -> None:
    edge = boundary(10_000)
    assert edge is not None
    assert 2 * binom.sf(edge.wins - 1, 10_000, 0.5) == pytest.approx(float(edge.p), rel=1e-9)
    assert power(10_000, 0.52) == pytest.approx(binom.sf(edge.wins - 1, 10_000, 0.52), rel=1e-8)
    assert (power(60, 1.0), power(60, 0.0)) == (1.0, 0.0)
    least = detectable(10_000)
    assert least is not None
    assert 0.51 < least < 0.52


def test_the_detectable_effect_is_the_smallest() -> None:
    found = detectable(60)
    assert found is not None
    assert power(60, found) >= 0.80 > power(60, found - 0.0001)
    assert detectable(5) is None


def test_the_clustered_test_keeps_its_size_and_the_pooled_one_does_not() -> None:
    correlated = simulate(Design(60, 3, 0.5, 0.5, 0.6), simulations=1000)
    assert correlated.clustered <= 0.065
    assert correlated.pooled >= 0.12
    independent = simulate(Design(60, 3, 0.5, 0.5, 0.0), simulations=1000)
    assert independent.clustered <= 0.065
    assert independent.pooled <= 0.065


def test_simulated_power_grows_with_traps() -> None:
    small, large = (simulate(Design(n, 3, 0.6, 0.4, 0.5), simulations=400).clustered for n in (20, 120))
    assert small < large
    assert large > 0.8
    assert simulate(Design(20, 3, 0.6, 0.4, 0.5), simulations=100) == simulate(
        Design(20, 3, 0.6, 0.4, 0.5), simulations=100
    )


def test_traps_and_seeds_needed() -> None:
    needed = needed_by_seeds(Design(20, 3, 0.7, 0.4, 0.3), simulations=200)
    assert all(count is not None for count in needed.values())
    assert needed[1] > needed[3] >= needed[5]  # type: ignore[operator]
    found = traps_needed(Design(20, 3, 0.7, 0.4, 0.3), simulations=200)
    assert found == needed[3]
    assert traps_needed(Design(20, 3, 0.5, 0.5, 0.3)) is None


@pytest.mark.parametrize("bad", [(0, 3, 0.5, 0.5, 0.1), (10, 0, 0.5, 0.5, 0.1), (10, 3, 1.5, 0.5, 0.1)])
def test_impossible_designs_are_refused(bad: tuple[int, int, float, float, float]) -> None:
    with pytest.raises(ValueError, match="impossible design"):
        Design(*bad)
