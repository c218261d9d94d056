"""Hygiene metrics by hand-made arms: each numerator and denominator, no opportunity is None, intervals by trap."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.funnel import Fate
from analysis.hygiene import METRICS, HygieneRow, Repair, clustered_interval, deliveries, measure

BY_NAME = {metric.name.removesuffix("_traced"): metric for metric in METRICS}
PLAIN: dict[str, Any] = {
    "trap": "t",
    "construct": "C1",
    "condition": "X",
    "seed": 1,
    "history": "given",
    "reader": "careful",
    "outcome": "pass",
    "cause": "",
    "expect": "use",
    "shown": (),
    "types": (),
    "fates": (),
    "used": (),
    "carried_by_tree": (),
    "repairs": (),
    "warm_up": (True, True),
    "check": True,
    "seen_forbidden": False,
}


def arm(**told: Any) -> HygieneRow:
    return HygieneRow(**{**PLAIN, **told})


def fate(role: str, stage: Any = "used", kind: str = "human_feedback", name: str = "f") -> Fate:
    return Fate(name, role, stage, "" if stage == "used" else "why", False, kind)


def count(name: str, *arms: HygieneRow) -> tuple[int, int]:
    found = measure(arms, BY_NAME[name])
    return found.numerator, found.denominator


NEEDS = fate("governing")
OLD = fate("superseded", name="old")
NEAR = fate("distractor", name="near")

CASES: list[tuple[str, dict[str, Any], tuple[int, int]]] = [
    ("UsefulMemoryPrecision", {"fates": (NEEDS,), "shown": ("useful", "stale", "irrelevant")}, (1, 3)),
    ("UsefulMemoryPrecision", {"fates": (NEAR,), "shown": ("distracting",)}, (0, 0)),
    ("UsefulMemoryRecall", {"fates": (NEEDS, fate("rule", "admitted"), fate("parameter", "alive"), OLD)}, (2, 3)),
    ("HarmfulMemoryRate", {"shown": ("useful", "stale", "harmful", "distracting")}, (2, 4)),
    ("HarmfulMemoryRate", {}, (0, 0)),
    ("ContradictionRepairAccuracy", {"repairs": (Repair(True, True), Repair(True, True, False))}, (1, 2)),
    ("ContradictionRepairAccuracy", {"repairs": (Repair(True, False), Repair(False, True, True))}, (0, 2)),
    ("StaleUseRate", {"fates": (OLD, NEEDS)}, (1, 1)),
    ("StaleUseRate", {"fates": (fate("superseded", "admitted"),)}, (0, 1)),
    ("StaleUseRate", {"fates": (NEEDS,)}, (0, 0)),
    ("RepeatedErrorRate", {"seen_forbidden": True, "outcome": "trapped"}, (1, 1)),
    ("RepeatedErrorRate", {"seen_forbidden": None, "outcome": "trapped", "cause": "forbidden path"}, (0, 0)),
    ("ScopeAccuracy", {"construct": "C5", "fates": (NEEDS,), "used": ("f",)}, (2, 2)),
    (
        "ScopeAccuracy",
        {"construct": "C5", "fates": (NEEDS,), "used": ("f",), "outcome": "trapped", "seen_forbidden": True},
        (1, 2),
    ),
    ("ScopeAccuracy", {"construct": "C5", "fates": (fate("governing", "alive"),), "outcome": "failed"}, (1, 2)),
    ("ScopeAccuracy", {"construct": "C1", "fates": (NEEDS,)}, (0, 0)),
    ("OverscopeRate", {"construct": "C5", "fates": (NEEDS,), "seen_forbidden": True}, (1, 1)),
    ("OverscopeRate", {"construct": "C5", "seen_forbidden": True}, (0, 0)),
    ("IrrelevantImportRate", {"construct": "C2", "fates": (NEAR, NEEDS)}, (1, 1)),
    ("IrrelevantImportRate", {"construct": "C10", "fates": (fate("decoy", "admitted"),)}, (0, 1)),
    ("IrrelevantImportRate", {"construct": "C8", "fates": (NEAR,)}, (0, 0)),
    ("HumanFeedbackUseAccuracy", {"fates": (NEEDS, fate("rule", "admitted"), fate("rule", kind="staleness"))}, (1, 2)),
    ("TransferScore", {"fates": (NEEDS,)}, (1, 1)),
    ("TransferScore", {"fates": (NEEDS,), "carried_by_tree": ("f",)}, (0, 1)),
    ("TransferScore", {"fates": (fate("governing", "alive"),)}, (0, 1)),
    ("TransferScore", {"fates": (NEEDS,), "expect": "abstain"}, (0, 0)),
    ("RegressionAfterUpdate", {"check": False}, (1, 1)),
    ("RegressionAfterUpdate", {"check": False, "warm_up": (True, False)}, (0, 0)),
    ("RegressionAfterUpdate", {"check": False, "warm_up": (True, None)}, (0, 0)),
    ("RegressionAfterUpdate", {"check": None}, (0, 0)),
    ("AbstentionAccuracy", {"expect": "abstain"}, (1, 1)),
    ("AbstentionAccuracy", {"expect": "abstain", "outcome": "trapped"}, (0, 1)),
    ("AbstentionAccuracy", {}, (0, 0)),
]


@pytest.mark.parametrize(("name", "told", "wanted"), CASES)
def test_a_count_by_hand(name: str, told: dict[str, Any], wanted: tuple[int, int]) -> None:
    assert count(name, arm(**told)) == wanted


def test_every_metric_has_a_case_with_and_without_an_opportunity() -> None:
    assert {name for name, _, _ in CASES} == set(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_no_opportunity_is_none_and_never_zero(name: str) -> None:
    assert measure([], BY_NAME[name]).value is None
    bare = arm(fates=(), seen_forbidden=None, check=None)
    assert measure([bare], BY_NAME[name]).value is None


def test_what_does_not_count_is_in_no_metric() -> None:
    there: dict[str, Any] = {"fates": (NEEDS, OLD), "shown": ("stale",)}
    rows = [arm(**there, outcome=outcome) for outcome in ("invalid", "unavailable")]
    assert all(measure(rows, metric).denominator == 0 for metric in METRICS)


def test_arms_are_pooled_not_averaged() -> None:
    assert count("HarmfulMemoryRate", arm(shown=("stale",)), arm(trap="u", shown=("useful",) * 3)) == (1, 4)


def test_the_interval_is_over_traps_and_seeded() -> None:
    tops, bottoms = [0, 0, 3, 3], [3, 3, 3, 3]
    interval = clustered_interval(tops, bottoms)
    assert interval is not None
    assert interval == clustered_interval(tops, bottoms)
    assert (interval.low, interval.high) == (0.0, 1.0)  # four whole traps: wider than twelve independent arms
    assert clustered_interval([1], [2]) is None
    with pytest.raises(ValueError, match="no cluster"):
        clustered_interval([0, 0], [1, 0])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=2, max_size=12))
def test_the_interval_stays_among_the_traps_own_ratios(pairs: list[tuple[int, int]]) -> None:
    interval = clustered_interval([a for a, _ in pairs], [b for _, b in pairs])
    assert interval is not None
    ratios = [a / b for a, b in pairs]
    assert min(ratios) - 1e-9 <= interval.low <= interval.high <= max(ratios) + 1e-9


def test_deliveries_count_arms_once_for_both_readers() -> None:
    rows = [arm(types=("episodic", "episodic")), arm(types=("episodic", "episodic"), reader="credulous")]
    rows.append(arm(seed=2, types=("contradiction",)))
    assert deliveries(rows) == {"contradiction": (1, 2), "episodic": (1, 2)}
