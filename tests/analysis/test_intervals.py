"""Wilson and exact intervals against scipy, and their bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.intervals import clopper_pearson, wilson


@given(st.integers(1, 500), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_equals_scipy(n: int, data: st.DataObject, confidence: float) -> None:
    k = data.draw(st.integers(0, n))
    found = wilson(k, n, confidence)
    expected = binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0 <= found.low <= k / n <= found.high <= 1


def test_no_opportunity_is_no_interval() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("k", "n", "confidence"), [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 0.0), (1, 5, 1.0)])
def test_impossible_counts_are_refused(k: int, n: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"impossible|between"):
        wilson(k, n, confidence)


@given(st.integers(1, 500), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_exact_interval_equals_scipy(n: int, data: st.DataObject, confidence: float) -> None:
    k = data.draw(st.integers(0, n))
    found = clopper_pearson(k, n, confidence)
    expected = binomtest(k, n).proportion_ci(confidence, method="exact")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0 <= found.low <= k / n <= found.high <= 1


def test_the_exact_interval_at_its_ends() -> None:
    assert clopper_pearson(0, 0) is None
    ten = clopper_pearson(10, 10)
    assert ten is not None
    assert (ten.low, ten.high) == (pytest.approx(0.025 ** (1 / 10)), 1.0)
    with pytest.raises(ValueError, match="impossible"):
        clopper_pearson(2, 1)
    with pytest.raises(ValueError, match="between"):
        clopper_pearson(1, 1, 1.5)
