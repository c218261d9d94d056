"""McNemar, Holm, majority and the tail counts, against scipy and brute force."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from analysis.clustered import compare, sign_test
from analysis.holm import holm
from analysis.majority import majority
from analysis.mcnemar import exact_p, per_seed, pooled
from analysis.records import CellRecord, Outcome
from analysis.signs import tail_count

P, F, I = "pass", "failed", "invalid"  # noqa: E741


def side(condition: str, outcomes: dict[str, list[Outcome]]) -> list[CellRecord]:
    return [CellRecord(t, "C1", condition, n, o) for t, row in outcomes.items() for n, o in enumerate(row, 1)]


@given(st.lists(st.integers(1, 9), max_size=12), st.data())
def test_tail_counts_are_the_enumeration(weights: list[int], data: st.DataObject) -> None:
    span = sum(weights)
    total = data.draw(st.integers(0, span // 2).map(lambda n: span - 2 * n))
    sums = [sum(w * s for w, s in zip(weights, signs, strict=True)) for signs in product((1, -1), repeat=len(weights))]
    assert tail_count(weights, total) == sum(1 for s in sums if abs(s) >= total)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=300), st.integers(0, 300))
def test_tail_counts_of_many_weights_are_the_convolution(weights: list[int], drop: int) -> None:
    span = sum(weights)
    counts = [1]
    for weight in weights:
        counts = [a + b for a, b in zip([*counts, *[0] * weight], [*[0] * weight, *counts], strict=True)]
    low = min(drop, (span - 1) // 2)
    assert tail_count(weights, span - 2 * low) == 2 * sum(counts[: low + 1])


@pytest.mark.parametrize(("weights", "total"), [([1, 2], 4), ([1, 2], 2), ([1, 2], -1), ([0], 0), ([-1], 1)])
def test_impossible_tails_are_refused(weights: list[int], total: int) -> None:
    with pytest.raises(ValueError, match=r"reach|positive"):
        tail_count(weights, total)


def test_all_signs_of_sixteen_traps() -> None:
    generator = np.random.default_rng(5)
    for _ in range(20):
        scores = generator.integers(-3, 4, size=16)
        weights = np.abs(scores)
        sums = ((np.arange(1 << 16)[:, None] >> np.arange(16)) % 2 * 2 - 1) @ weights
        assert sign_test(scores.tolist()) == Fraction(int((np.abs(sums) >= abs(scores.sum())).sum()), 1 << 16)


def test_scipy_permutations_agree() -> None:
    scores = [3, -1, 2, 2, 0, 1, -3, 1, 1, 2]
    theirs = permutation_test(
        (np.array(scores),), np.sum, permutation_type="samples", n_resamples=1 << 12, alternative="two-sided"
    )
    assert float(sign_test(scores)) == pytest.approx(theirs.pvalue, rel=1e-9)


def test_ten_thousand_traps_are_quick() -> None:
    scores = np.random.default_rng(1).integers(-3, 4, size=10_000).tolist()
    start = time.perf_counter()
    p = sign_test(scores)
    assert time.perf_counter() - start < 1
    assert p.denominator.bit_length() > 8000


@given(st.integers(0, 90), st.integers(0, 90))
def test_mcnemar_is_the_binomial_test(b: int, c: int) -> None:
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert float(exact_p(b, c)) == pytest.approx(expected, rel=1e-9)
    assert exact_p(b, c) == exact_p(c, b) == sign_test([1] * b + [-1] * c)


def test_mcnemar_takes_counted_pairs_only() -> None:
    a = side("A", {"t": [P, P, I], "u": [F, P, P]})
    b = side("B", {"t": [F, P, P], "u": [P, F, F]})
    test = pooled(a, b)
    assert (test.b, test.c, test.both_pass, test.both_fail, test.n) == (3, 1, 1, 0, 5)
    assert {seed: (t.b, t.c) for seed, t in per_seed(a, b).items()} == {1: (1, 1), 2: (1, 0), 3: (1, 0)}
    assert compare(a, b).paired == test.n
    with pytest.raises(ValueError, match="no counts"):
        exact_p(-1, 2)


def test_holm_by_hand() -> None:
    raw = {"a": Fraction(1, 100), "b": Fraction(4, 100), "c": Fraction(3, 100)}
    assert holm(raw) == {"a": Fraction(3, 100), "b": Fraction(6, 100), "c": Fraction(6, 100)}


def test_an_unavailable_slot_keeps_the_family_at_its_size() -> None:
    alone = holm({"a": Fraction(1, 100)})
    with_slots = holm({"a": Fraction(1, 100), "b": None, "c": None})
    assert alone["a"] == Fraction(1, 100)
    assert with_slots == {"a": Fraction(3, 100), "b": 1, "c": 1}


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_and_keeps_the_order(values: list[Fraction]) -> None:
    raw = {str(n): p for n, p in enumerate(values)}
    adjusted = holm(raw)
    assert list(adjusted) == list(raw)
    for a, b in product(raw, raw):
        assert raw[a] <= adjusted[a] <= min(1, len(raw) * raw[a])
        assert raw[a] > raw[b] or adjusted[a] <= adjusted[b]
    with pytest.raises(ValueError, match="outside"):
        holm({"x": Fraction(3, 2)})


def test_majority_of_three() -> None:
    a = side("A", {"t": [P, P, F], "u": [F, F, P], "v": [P, P, I], "w": [P, P, P]})
    b = side("B", {"t": [F, F, P], "u": [P, P, P], "v": [F, F, F], "w": [P, P, F]})
    found = majority(a, b)
    assert (found.test.b, found.test.c, found.test.both_pass, found.test.both_fail) == (1, 1, 1, 0)
    assert (found.incomplete, found.tied) == (1, 0)


def test_an_even_number_of_seeds_can_tie() -> None:
    found = majority(side("A", {"t": [P, F], "u": [P, P]}), side("B", {"t": [P, P], "u": [F, F]}))
    assert (found.test.b, found.tied, found.incomplete) == (1, 1, 0)
