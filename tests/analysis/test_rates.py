"""Cells from arms, Pass@1, and counts that sum to the plan."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rates import NOT_RUN, PRECEDENCE, Rate, causes, cells, rate, rates_by, tally
from analysis.records import OUTCOMES, ArmRow, Outcome, RecordError


def arm(
    outcome: Outcome,
    history: str = "given",
    main: bool = True,
    trap: str = "c1_a",
    seed: int = 1,
    cause: str = "",
) -> ArmRow:
    return ArmRow(trap, trap[:2].upper(), "B5", seed, history, main, "careful", outcome, cause)


@pytest.mark.parametrize(("one", "other"), list(product(OUTCOMES, OUTCOMES)))
def test_matched_takes_the_worst_and_main_takes_the_main(one: Outcome, other: Outcome) -> None:
    arms = [arm(one, "absent"), arm(other, "given", main=False)]
    (matched,) = cells(arms, "matched")
    (main,) = cells(arms, "main")
    assert main.outcome == one
    assert matched.outcome == min(one, other, key=PRECEDENCE.index)


def test_order_of_decision() -> None:
    assert PRECEDENCE == ("invalid", "unavailable", "trapped", "failed", "pass")


def test_a_cell_bears_the_causes_of_its_deciding_arms() -> None:
    arms = [arm("failed", "absent", cause="no edit"), arm("trapped", "given", main=False, cause="old value")]
    assert cells(arms, "matched")[0].cause == "old value"
    assert cells(arms, "main")[0].cause == "no edit"


def test_a_cell_that_lacks_an_arm_is_invalid_never_passed() -> None:
    whole = [arm("pass", "absent"), arm("pass", "given", main=False)]
    rows = [*whole, arm("pass", "absent", seed=2), arm("pass", "given", main=False, seed=3)]
    assert [c.outcome for c in cells(rows, "matched")] == ["pass", "invalid", "invalid"]
    assert [c.outcome for c in cells(rows, "main")] == ["pass", "pass", "invalid"]
    assert cells(rows, "main")[2].cause == NOT_RUN


def test_a_trap_has_one_main_history() -> None:
    with pytest.raises(RecordError, match="row 1: trap 'c1_a': other rows have another main history"):
        cells([arm("pass", "absent"), arm("pass", "given", seed=2)], "main")
    with pytest.raises(RecordError, match="row 1"):
        cells([arm("pass", "given"), arm("pass", "given", main=False, seed=2)], "matched")


def test_pass_at_one_leaves_out_what_does_not_count() -> None:
    outcomes: list[Outcome] = ["pass", "trapped", "failed", "invalid", "unavailable"]
    arms = [arm(o, seed=n) for n, o in enumerate(outcomes)]
    assert rate(arms) == Rate(1, 3)
    assert rate(arms[3:]).value is None
    assert rate(arms[3:]).interval() is None


def test_rates_by_construct() -> None:
    arms = [arm("pass"), arm("failed", trap="c2_b"), arm("invalid", trap="c3_c")]
    assert rates_by(cells(arms, "main"), lambda c: c.construct) == {
        "C1": Rate(1, 1),
        "C2": Rate(0, 1),
        "C3": Rate(0, 0),
    }


@given(st.lists(st.sampled_from(OUTCOMES), max_size=30), st.integers(0, 5))
def test_counts_sum_to_the_plan(outcomes: list[Outcome], missing: int) -> None:
    found = tally([arm(o, seed=n) for n, o in enumerate(outcomes)], len(outcomes) + missing)
    assert sum(found.counts.values()) + found.not_run == found.planned == len(outcomes) + missing
    assert found.owed == outcomes.count("invalid") + missing


def test_more_records_than_planned_is_an_error() -> None:
    with pytest.raises(RecordError, match="2 records for a plan of 1"):
        tally([arm("pass"), arm("pass", seed=2)], 1)


def test_causes_are_counted_without_passes() -> None:
    arms = [
        arm("failed", seed=1, cause="no edit"),
        arm("trapped", seed=2, cause="old value"),
        arm("failed", seed=3, cause="no edit"),
        arm("pass", seed=4),
    ]
    assert list(causes(arms).items()) == [(("failed", "no edit"), 2), (("trapped", "old value"), 1)]
