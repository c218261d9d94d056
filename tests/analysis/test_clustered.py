"""The exact test against brute force over every sign assignment, and against published boundaries."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.clustered import compare, sign_test
from analysis.records import CellRecord, Outcome, RecordError


def cell(trap: str, condition: str, seed: int, outcome: Outcome, construct: str = "C1", reader: str = "") -> CellRecord:
    return CellRecord(trap, construct, condition, seed, outcome, reader)


def side(condition: str, outcomes: dict[str, list[Outcome]]) -> list[CellRecord]:
    return [cell(t, condition, n, o) for t, row in outcomes.items() for n, o in enumerate(row, 1)]


def brute(scores: list[int]) -> Fraction:
    weights = [abs(s) for s in scores if s]
    sums = [sum(w * s for w, s in zip(weights, signs, strict=True)) for signs in product((1, -1), repeat=len(weights))]
    return Fraction(sum(1 for s in sums if abs(s) >= abs(sum(scores))), len(sums))


@given(st.lists(st.integers(-4, 4), max_size=12))
def test_equals_the_enumeration_of_all_signs(scores: list[int]) -> None:
    assert sign_test(scores) == brute(scores)


@given(st.integers(0, 60), st.integers(0, 60))
def test_equal_weights_are_the_binomial_test(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert float(sign_test([1] * wins + [-1] * losses)) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.integers(-3, 3), max_size=40))
def test_swapping_sides_scaling_and_zeros_change_nothing(scores: list[int]) -> None:
    p = sign_test(scores)
    assert 0 < p <= 1
    assert sign_test([-s for s in scores]) == p
    assert sign_test([3 * s for s in scores]) == p
    assert sign_test([*scores, 0, 0]) == p


def test_rejection_boundary_of_sixty_equal_traps() -> None:
    assert round(float(sign_test([1] * 39 + [-1] * 21)), 4) == 0.0273
    assert round(float(sign_test([1] * 38 + [-1] * 22)), 4) == 0.0519


def test_no_difference_gives_one_exactly() -> None:
    assert sign_test([]) == 1
    assert sign_test([0, 0]) == 1
    assert sign_test([2, -1, -1]) == 1


@pytest.mark.parametrize("bad", [float("nan"), 0.5, "1", None, True])
def test_a_score_that_is_no_integer_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="whole number"):
        sign_test([1, bad])  # type: ignore[list-item]


def test_large_folds_are_quick_and_exact() -> None:
    start = time.perf_counter()
    p = sign_test([3] * 150 + [-2] * 100 + [1] * 50)
    assert time.perf_counter() - start < 2
    assert p.denominator.bit_length() > 200
    assert sign_test([1] * 300) == Fraction(2, 1 << 300)


def test_comparison_counts_everything_once() -> None:
    a = side("A", {"t1": ["pass", "pass", "failed"], "t2": ["pass", "invalid", "trapped"], "t3": ["failed", "pass"]})
    b = side("B", {"t1": ["failed", "pass", "failed"], "t2": ["pass", "pass", "pass"], "t3": ["failed", "unavailable"]})
    test = compare(a, b)
    assert (test.first, test.second) == ("A", "B")
    assert (test.b, test.c, test.both_pass, test.both_fail) == (1, 1, 2, 2)
    assert (test.D, test.k, test.zero_traps, test.traps) == (0, 2, 1, 3)
    assert (test.paired, test.excluded, test.excluded_first, test.excluded_second, test.unmatched) == (6, 2, 1, 1, 0)
    assert test.score_counts == {-1: 1, 0: 1, 1: 1}
    assert test.p == 1
    assert not test.separated()


def test_a_cell_missing_on_one_side_is_excluded_and_counted() -> None:
    test = compare(side("A", {"t": ["pass", "pass"]}), side("B", {"t": ["failed"], "u": ["pass"]}))
    assert (test.paired, test.excluded, test.unmatched, test.D) == (1, 2, 2, 1)


def test_the_seeds_of_a_trap_swap_together() -> None:
    a = side("A", {f"t{n}": ["pass"] * 3 for n in range(5)})
    b = side("B", {f"t{n}": ["failed"] * 3 for n in range(5)})
    test = compare(a, b)
    assert (test.b, test.k) == (15, 5)
    assert test.p == Fraction(2, 32)
    assert not test.separated()


def test_a_condition_that_never_ran_keeps_p_one() -> None:
    test = compare(side("A", {"t": ["unavailable"]}), side("B", {"t": ["pass"]}))
    assert test.p == 1
    assert (test.k, test.paired, test.excluded) == (0, 0, 1)


def test_sides_that_cannot_be_compared_are_refused() -> None:
    good = side("B", {"t": ["pass"]})
    with pytest.raises(RecordError, match="one condition"):
        compare([], good)
    with pytest.raises(RecordError, match="one condition"):
        compare([*good, cell("t", "C", 1, "pass")], good)
    with pytest.raises(RecordError, match="reader levels differ"):
        compare([cell("t", "A", 1, "pass", reader="careful")], [cell("t", "B", 1, "pass", reader="credulous")])
    with pytest.raises(RecordError, match="row 1: the same as row 0"):
        compare([*good, *good], good)
