"""Cohen's kappa: textbook values, what is not defined, and what may not change it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.agreement import FEW, NO_CASE, NO_SPREAD, ONE_WORD, against_the_rest, agreement

WORDS = st.sampled_from(["C1", "C2", "C3"])
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=25)


def cases(counts: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [pair for pair, count in counts.items() for _ in range(count)]


def square(*rows: tuple[int, ...]) -> list[tuple[str, str]]:
    names = "abc"
    return cases({(names[i], names[j]): count for i, row in enumerate(rows) for j, count in enumerate(row)})


def test_the_example_of_cohen() -> None:
    """Cohen 1960, table 1: p_o = .70, p_e = .41, kappa = .492."""
    found = agreement(square((88, 14, 18), (10, 40, 10), (2, 6, 12)))
    assert (found.n, found.agreed) == (200, 140)
    assert found.expected == Fraction(41, 100)
    assert found.kappa == Fraction(29, 59)
    assert found.confusion["a", "c"] == 18
    assert found.interval is not None
    # the large-sample standard error of that paper: sqrt(p_o (1 - p_o) / (n (1 - p_e)^2)) = .0549
    assert found.interval.low == pytest.approx(0.492 - 1.96 * 0.0549, abs=0.015)
    assert found.interval.high == pytest.approx(0.492 + 1.96 * 0.0549, abs=0.015)


def test_the_example_of_fleiss() -> None:
    """Fleiss, Statistical Methods for Rates and Proportions (1981), table 13.1: p_o = .89, p_e = .66, kappa = .68."""
    found = agreement(square((75, 1, 4), (5, 4, 1), (0, 0, 10)))
    assert (found.agreed, found.expected, found.kappa) == (89, Fraction(66, 100), Fraction(23, 34))


def test_one_category_against_the_others() -> None:
    pairs = square((75, 1, 4), (5, 4, 1), (0, 0, 10))
    found = agreement(against_the_rest(pairs, "a"))  # .75 .05 / .05 .15: p_e = .80 * .80 + .20 * .20
    assert (found.agreed, found.expected, found.kappa) == (90, Fraction(68, 100), Fraction(22, 32))


def test_what_is_not_defined_says_why() -> None:
    nothing = agreement([])
    assert (nothing.n, nothing.kappa, nothing.interval, nothing.why) == (0, None, None, NO_CASE)
    same = agreement([("yes", "yes")] * 9)
    assert (same.agreed, same.kappa, same.interval, same.why) == (9, None, None, ONE_WORD)
    alike = agreement([("yes", "yes"), ("no", "no")])
    assert (alike.kappa, alike.interval, alike.why) == (1, None, NO_SPREAD)
    few = agreement([("yes", "yes")] * 20 + [("no", "yes")])  # a third of the redrawn samples has no "no"
    assert (few.kappa, few.interval, few.why) == (0, None, FEW)
    apart = agreement([("yes", "no"), ("no", "yes")] * 30)
    assert apart.kappa == -1
    with pytest.raises(ValueError, match="99 resamples"):
        agreement([], resamples=99)


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.randoms())
def test_order_names_and_who_comes_first_do_not_matter(pairs: list[tuple[str, str]], random: object) -> None:
    found = agreement(pairs, resamples=100)
    other = list(pairs)
    random.shuffle(other)  # type: ignore[attr-defined]
    names = {"C1": "z", "C2": "a", "C3": "m"}
    turned = agreement([(names[b], names[a]) for a, b in other], resamples=100)
    assert (turned.n, turned.agreed, turned.expected, turned.kappa) == (
        found.n,
        found.agreed,
        found.expected,
        found.kappa,
    )
    if found.kappa is not None:
        assert -1 <= found.kappa <= 1
        assert (found.kappa == 1) == (found.agreed == found.n)
    if found.interval:
        assert -1 <= found.interval.low <= found.interval.high <= 1
    assert agreement(pairs, resamples=100) == found
