"""Author by wake agent: cells of single runs, the gate of the warm-up, and what a page shows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.clustered import compare
from analysis.family import Family
from analysis.intervals import clopper_pearson
from analysis.rates import Rate, cells
from analysis.records import ArmRow
from analysis.report.layout import as_text
from analysis.report.transferring import RunTold, Setting, document
from analysis.transfer import BELOW, UNMEASURED, Cell, Run, Transfer, transfer

from .report.run_kit import arms, family, line, run_of, table, warm

AUTHORS = {"B0": "nobody", "B5": "rules", "M": "judge-1", "ALL": "rules"}


def rows(reader: str = "", **words: str) -> list[ArmRow]:
    return [row for name, word in words.items() for row in arms(name, word, reader)]


def run(
    name: str,
    told: Sequence[ArmRow],
    wake: str = "one",
    failing: Mapping[str, int] | None = None,
    registered: Family | None = None,
    **authors: str,
) -> Run:
    """A run whose S1 and S2 pass but in the first `failing` arms of a condition."""
    left = dict(failing or {})
    checks = []
    for row in told:
        left[row.condition] = left.get(row.condition, 0) - 1
        checks.append(warm(row, left[row.condition] < 0))
    data = run_of(told, warm_ups=tuple(checks), family=registered)
    return Run(name, wake, AUTHORS | authors, data)


def cell(
    found: Transfer, condition: str, column: str, endpoint: str = "matched", author: str = "", nth: int = 1
) -> Cell:
    (only,) = [
        one.cells[found.columns.index(column)]
        for one in found.lines
        if (one.condition, one.endpoint, one.nth) == (condition, endpoint, nth) and author in ("", one.author)
    ]
    assert only is not None
    return only


ONE = rows(B0="f", B5="pppppppf", M="ppf")


def test_a_cell_is_one_run_by_hand() -> None:
    contrasts = family("Q1 B5 B0", "Q2 M B5", primary="Q1")
    found = transfer([run("a", ONE, registered=contrasts), run("b", rows(B0="f", B5="f", M="f"), "two")])
    assert found.columns == ("one", "two")
    here = cell(found, "B5", "one")
    assert (here.run, here.why, here.rate, here.excluded) == ("a", "", Rate(7, 8), 0)
    assert here.exact == clopper_pearson(7, 8)
    (registered,) = here.contrasts
    by = {name: [c for c in cells(ONE, "matched") if c.condition == name] for name in ("B0", "B5")}
    assert registered.p == compare(by["B5"], by["B0"]).p == Fraction(2, 2**7)
    assert (registered.id, registered.second, registered.holm) == ("Q1", "B0", 2 * registered.p)
    assert cell(found, "B5", "two").rate == Rate(0, 8)
    assert cell(found, "B5", "two").contrasts == (), "nothing was registered there"
    assert {one.endpoint for one in found.lines} == {"matched", "main"}


@pytest.mark.parametrize(
    ("failing", "bound", "why"),
    [
        (1, None, ""),  # 19 of 20
        (2, None, ""),  # 18 of 20 is .9
        (3, None, BELOW),
        (4, 0.8, ""),
        (5, 0.8, BELOW),
    ],
)
def test_a_cold_baseline_takes_its_column_out(failing: int, bound: float | None, why: str) -> None:
    """Ten arms a condition with two checks each; one is failed by each failing arm."""
    registered = None
    if bound is not None:
        registered = family("Q1 B5 B0")
        registered = registered.model_copy(update={"gates": registered.gates.model_copy(update={"warmup": bound})})
    found = transfer([run("a", ONE, failing={"B0": failing}, registered=registered), run("b", ONE, "two")])
    for name in ("B0", "B5", "M"):
        here = cell(found, name, "one")
        assert here.why == (f"{why} (B0)" if why else "")
        assert (here.rate is None, here.exact is None, here.contrasts == ()) == (bool(why),) * 2 + (
            bool(why) or registered is None or name != "B5",
        )
        assert not cell(found, name, "two").why
    assert [w.s1 for w in found.warmths if (w.run, w.condition) == ("a", "B0")] == [Rate(10 - failing, 10)]


def test_a_cold_condition_takes_its_contrasts_along() -> None:
    contrasts = family("Q1 B5 B0", "Q2 M B5")
    found = transfer(
        [run("a", ONE, failing={"B5": 9}, registered=contrasts), run("b", ONE, "two", registered=contrasts)]
    )
    assert cell(found, "B5", "one").why == f"{BELOW} (B5)"
    assert cell(found, "M", "one").rate == Rate(6, 8)
    assert cell(found, "M", "one").contrasts == (), "its other side cannot be read"
    assert [c.id for c in cell(found, "M", "two").contrasts] == ["Q2"]


def test_without_a_check_nothing_can_be_read() -> None:
    data = run_of(ONE)
    found = transfer([Run("a", "one", AUTHORS, data), run("b", ONE, "two")])
    assert {one.cells[0].why for one in found.lines if one.cells[0]} == {f"{UNMEASURED} (B0)"}


def test_authors_are_rows_and_repeats_stand_apart() -> None:
    """Two models that a memory asks, one agent: what no model wrote is there twice, and is not added up."""
    first, second = run("a", ONE), run("b", rows(B0="f", B5="f", M="p"), M="judge-2")
    found = transfer([first, second])
    assert found.columns == ("one",)
    labels = [(one.condition, one.author, one.nth) for one in found.lines if one.endpoint == "matched"]
    assert labels == [
        ("B0", "nobody", 1), ("B0", "nobody", 2), ("B5", "rules", 1), ("B5", "rules", 2), ("M", "judge-1", 1),
        ("M", "judge-2", 1),
    ]  # fmt: skip
    assert cell(found, "B5", "one", nth=1).rate == Rate(7, 8)
    assert cell(found, "B5", "one", nth=2).rate == Rate(0, 8)
    assert cell(found, "M", "one", author="judge-2").rate == Rate(8, 8)


def test_reader_levels_are_columns_and_absent_conditions_are_dashes() -> None:
    both = rows("careful", B0="f", B5="p") + rows("credulous", B0="f", B5="f")
    found = transfer([run("a", both), run("b", rows(B0="f", ALL="i"), "two")])
    assert found.columns == ("one, careful reader", "one, credulous reader", "two")
    made = document(Setting((RunTold("a", (("plan", "1"),)), RunTold("b", ()))), found)
    shown = table(made, "Author by wake agent (matched)")
    assert shown.header == ("condition", "memory written by", *found.columns)
    assert line(shown, "B5")[2:] == ("8/8 = 1.000 [0.631, 1.000]", "0/8 = 0.000 [0.000, 0.369]", "-")
    assert line(shown, "ALL")[2:] == ("-", "-", "no counted cell, 8 excluded")
    assert line(table(made, "The runs"), "plan") == ("plan", "1", "-")


def test_a_page_shows_no_value_of_a_cold_cell() -> None:
    contrasts = family("Q1 B5 B0")
    found = transfer(
        [run("a", ONE, failing={"B0": 10}, registered=contrasts), run("b", ONE, "two", registered=contrasts)]
    )
    made = document(Setting((RunTold("a", ()), RunTold("b", ()))), found)
    shown = table(made, "Author by wake agent (main)")
    assert line(shown, "B5")[2] == "not interpretable: warm-up (B0)"
    assert line(shown, "B5")[3] == "7/8 = 0.875 [0.473, 0.997]; Q1 p 0.01562, Holm 0.01562"
    (only,) = table(made, "Registered contrasts (main)").rows
    assert only[1:4] == ("B5 - B0", "two", "b")
    assert line(table(made, "Warm-up by cell"), "a", "one", "B0")[3:] == (
        "0/10", "10/10", "0.500", ">= 0.8", "not interpretable: warm-up",
    )  # fmt: skip
    assert "pooled" in as_text(made)


@settings(max_examples=25)
@given(st.lists(st.sampled_from("ptfi"), min_size=8, max_size=8), st.integers(0, 10))
def test_a_value_is_shown_exactly_where_the_warm_up_holds(word: list[str], failing: int) -> None:
    told = rows(B0="f", B5="".join(word))
    found = transfer([run("a", told, failing={"B5": failing}), run("b", ONE, "two")])
    here = cell(found, "B5", "one")
    warmth = next(w for w in found.warmths if (w.run, w.condition) == ("a", "B5"))
    assert (here.rate is not None) == (20 - failing >= 18) == (not warmth.why)
    if here.rate is not None:
        mine = [c for c in cells(told, "matched") if c.condition == "B5"]
        assert here.rate.passed == sum(c.outcome == "pass" for c in mine)
        assert here.rate.counted + here.excluded == len(mine) == 8
