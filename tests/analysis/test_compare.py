"""Two runs over hand-made arms: contrasts, drift, changes, and the document that tells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.compare import (
    OUTSIDE,
    OUTSIDE_MOVABLE,
    OUTSIDE_REPEAT,
    WITHIN,
    Asked,
    Comparison,
    Pair,
    Side,
    compare_runs,
    levels,
)
from analysis.records import OUTCOMES, ArmRow, Outcome
from analysis.report.comparison import RunTold, Setting, document
from analysis.report.layout import as_markdown, as_text
from analysis.result import NO_BASELINE

Cells = Mapping[tuple[str, str, int], Outcome]  # condition, trap, seed


def side(cells: Cells, reader: str = "careful", causes: Mapping[Outcome, str] | None = None) -> Side:
    rows = [
        ArmRow(trap, "C1", condition, seed, "given", True, reader, outcome, (causes or {}).get(outcome, ""))
        for (condition, trap, seed), outcome in cells.items()
    ]
    return Side(tuple(rows), tuple(dict.fromkeys(c for c, _, _ in cells)), (reader,))


def fold(condition: str, passed: int, traps: int, seeds: int = 1, other: Outcome = "failed") -> dict[
    tuple[str, str, int], Outcome
]:  # fmt: skip
    """The first `passed` cells pass, in order of trap, then seed."""
    keys = [(condition, f"t{trap:03d}", seed) for trap in range(traps) for seed in range(seeds)]
    return {key: "pass" if number < passed else other for number, key in enumerate(keys)}


def asked(cells: Cells, *pairs: Pair, **more: object) -> Asked:
    equal = frozenset((trap, seed) for _, trap, seed in cells)
    return replace(Asked(equal, pairs, resamples=100), **more)  # type: ignore[arg-type]


def test_a_contrast_has_its_exact_p_and_holm_over_the_pairs() -> None:
    a = {**fold("B0", 0, 7), **fold("M", 7, 7), **fold("N", 3, 7)}
    b = {**fold("B0", 0, 7), **fold("M", 1, 7), **fold("N", 3, 7)}
    found = compare_runs(side(a), side(b), asked(a, Pair("M", "M"), Pair("N", "N")))
    first, second = (c for c in found.contrasts if c.found.endpoint == "matched")
    test = first.found.test
    assert test is not None
    assert (test.D, test.b, test.c, test.k, test.zero_traps, test.paired) == (6, 6, 0, 6, 1, 7)
    assert (test.p, first.holm, second.holm) == (Fraction(1, 32), Fraction(1, 16), 1)
    assert (first.verdict, first.adjusted, second.verdict) == ("better", "not separated", "not separated")
    assert (first.found.first.passed, first.found.second.passed) == (7, 1)
    alone = compare_runs(side(a), side(b), asked(a, Pair("M", "M")))
    assert [c.words for c in alone.claims] == ["better (careful reader alone)"] * 2


def test_no_claim_without_a_baseline_or_its_headroom() -> None:
    a, b = fold("M", 7, 7), fold("M", 0, 7)
    assert {c.words for c in compare_runs(side(a), side(b), asked(a, Pair("M", "M"))).claims} == {NO_BASELINE}
    full = compare_runs(side({**a, **fold("B0", 7, 7)}), side(b), asked(a, Pair("M", "M")))
    assert {c.words for c in full.claims} == {"no claim (the baseline leaves no headroom)"}


def test_two_conditions_under_one_pair() -> None:
    a, b = fold("M", 6, 6), fold("N", 0, 6)
    found = compare_runs(side(a), side(b), asked(a, Pair("M", "N")))
    assert found.contrasts[0].found.pair.label == "M of A - N of B"
    assert found.contrasts[0].found.test is not None
    assert found.contrasts[0].found.test.D == 6
    lone = compare_runs(side(a), side(b), asked(a, Pair("M", "M")))
    assert lone.contrasts[0].found.test is None
    assert (lone.contrasts[0].holm, lone.contrasts[0].verdict) == (1, "no paired cells")


def test_the_band_of_drift() -> None:
    def reading(was: Cells, now: Cells, **more: object) -> tuple[str, int]:
        (drift, _) = compare_runs(side(was), side(now), asked(was, controls=("B0",), **more)).drifts
        return drift.reading, drift.changed

    assert reading(fold("B0", 5, 20), fold("B0", 5, 20)) == (WITHIN, 0)
    assert reading(fold("B0", 5, 20), fold("B0", 6, 20)) == (WITHIN, 1)  # .05 exactly
    assert reading(fold("B0", 5, 20), fold("B0", 7, 20)) == (OUTSIDE, 2)
    assert reading(fold("B0", 5, 20), fold("B0", 7, 20), movable=frozenset({"B0"})) == (OUTSIDE_MOVABLE, 2)
    assert reading(fold("B0", 5, 20), fold("B0", 7, 20), repeat=True) == (OUTSIDE_REPEAT, 2)
    # six of 200: .03, and the exact test separates them
    assert reading(fold("B0", 0, 200), fold("B0", 6, 200)) == (OUTSIDE, 6)
    # another way to fail is a changed cell without a difference
    assert reading(fold("B0", 5, 20), fold("B0", 5, 20, other="trapped")) == (WITHIN, 15)
    assert reading(fold("B0", 0, 3, other="invalid"), fold("B0", 3, 3)) == ("no paired cells", 0)


def test_cells_of_other_draws_take_no_part() -> None:
    a, b = fold("M", 8, 8), fold("M", 0, 8)
    equal = frozenset({("t000", 0), ("t001", 0)})
    found = compare_runs(side(a), side(b), asked(a, Pair("M", "M"), equal=equal))
    assert found.contrasts[0].found.test is not None
    assert found.contrasts[0].found.test.paired == 2
    assert {c.trap for c in found.changes} == {"t000", "t001"}


def test_changes_name_both_causes_and_each_cell_once() -> None:
    a, b = {("M", "t1", 1): "pass", ("M", "t2", 1): "failed"}, {("M", "t1", 1): "trapped", ("M", "t2", 1): "pass"}
    found = compare_runs(
        side(a, causes={"failed": "no edit"}), side(b, causes={"trapped": "old mark"}), asked(a, Pair("M", "M"))
    )
    shown = [(c.trap, c.first, c.second, c.first_cause, c.second_cause) for c in found.changes]
    assert shown == [("t1", "pass", "trapped", "", "old mark"), ("t2", "failed", "pass", "no edit", "")]
    assert found.changes[0].endpoints == ("matched", "main")
    gone = compare_runs(side(a), side({**b, ("M", "t1", 1): "invalid"}), asked(a, Pair("M", "M")))
    assert [c.trap for c in gone.changes] == ["t2"]


def test_reader_levels_meet_by_name_or_each_with_each() -> None:
    assert levels(("careful", "credulous"), ("credulous",)) == (("credulous", "credulous"),)
    assert levels(("careful", "credulous"), ("",)) == (("careful", ""), ("credulous", ""))
    a, b = fold("M", 1, 2), fold("M", 2, 2)
    found = compare_runs(side(a, "careful"), side(b, ""), asked(a, Pair("M", "M")))
    assert found.readers == ("careful of A, none of B",)
    assert found.contrasts[0].found.test is not None
    assert found.contrasts[0].found.test.D == -1


_KEYS = [(c, f"t{t}", s) for c in ("B0", "M") for t in range(5) for s in range(2)]
_FOLDS = st.lists(st.sampled_from(OUTCOMES), min_size=len(_KEYS), max_size=len(_KEYS)).map(
    lambda outcomes: dict(zip(_KEYS, outcomes, strict=True))
)


@settings(max_examples=60, deadline=None)
@given(_FOLDS, _FOLDS)
def test_swapping_the_runs_flips_every_difference_and_keeps_every_p(a: Cells, b: Cells) -> None:
    there, back = (
        compare_runs(side(x), side(y), asked(a, Pair("M", "M"), controls=("B0",))) for x, y in ((a, b), (b, a))
    )
    for one, other in zip(there.contrasts, back.contrasts, strict=True):
        first, second = one.found.test, other.found.test
        assert first is not None
        assert second is not None
        assert (first.D, first.b, first.c) == (-second.D, second.c, second.b)
        assert (first.p, one.holm, first.k, first.paired) == (second.p, other.holm, second.k, second.paired)
    for was, now in zip(there.drifts, back.drifts, strict=True):
        assert (was.changed, was.reading) == (now.changed, now.reading)
    turned = [replace(c, first=c.second, second=c.first) for c in back.changes]
    assert list(there.changes) == turned


def setting(**more: object) -> Setting:
    told = RunTold("runs/a", (("agent", "reference"),), 4, 0)
    base = Setting(told, replace(told, name="runs/b"), ("haystack",), (("config.haystack", "0 -> 200"),), 4)
    return replace(base, **more)  # type: ignore[arg-type]


def compared(a: Cells, b: Cells) -> Comparison:
    return compare_runs(side(a), side(b), asked(a, Pair("M", "M"), controls=("B0",)))


def test_the_document_says_what_was_compared_and_how_far_it_goes() -> None:
    a, b = {**fold("B0", 0, 7), **fold("M", 7, 7)}, {**fold("B0", 0, 7), **fold("M", 1, 7)}
    made = document(setting(unequal=(("t9", 1), ("t9", 3))), compared(a, b))
    text = as_text(made)
    assert "Factor: haystack." in text
    assert "exploratory" in text
    assert "t9" in text
    assert "1, 3" in text
    (figure,) = made.sections[1].figures
    row = figure.table().rows[0]
    assert row[:3] == ("M", "exploratory", "+0.857")
    assert row[4] == "p 0.03125, Holm 0.03125: better"
    assert "better (careful reader alone)" in text
    assert WITHIN in text
    assert "6 cells passed in A and not in B, 0 in B and not in A." in text
    assert "cannot be told apart" not in text
    both = as_text(document(setting(factors=("haystack", "budget")), compared(a, b)))
    assert "cannot be told apart" in " ".join(both.split())


def test_an_incomplete_run_and_a_movable_control_are_told() -> None:
    a = {**fold("B0", 0, 7), **fold("M", 7, 7)}
    found = compare_runs(side(a), side(a), asked(a, controls=("B0",), movable=frozenset({"B0"})))
    short = RunTold("runs/a", (), 28, 5)
    text = " ".join(as_text(document(setting(first=short, factors=("agent",)), found)).split())
    assert "A is incomplete: 5 of 28 endings are invalid or were not run" in text
    assert "The factor (agent) can itself move B0" in text
    assert "name what to compare with --pair" in text


def test_a_long_list_is_cut_and_the_rest_counted() -> None:
    a, b = fold("M", 60, 60), fold("M", 0, 60)
    made = document(setting(), compare_runs(side(a), side(b), asked(a, Pair("M", "M"))))
    table = made.sections[-1].tables[0]
    assert len(table.rows) == 50
    assert table.notes == ("10 more changed and are not listed.",)


def test_a_cause_can_start_no_markup() -> None:
    a, b = {("M", "t1", 1): "pass"}, {("M", "t1", 1): "failed"}
    hostile = side(b, causes={"failed": "<script>|\x1b[2J\n# x"})  # type: ignore[arg-type]
    marked = as_markdown(document(setting(), compare_runs(side(a), hostile, asked(a, Pair("M", "M")))))  # type: ignore[arg-type]
    assert "<script>" not in marked
    assert "\x1b" not in marked
    assert "\n# x" not in marked
