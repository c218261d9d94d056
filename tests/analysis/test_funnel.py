"""The funnel over many facts: ends sum to what was injected, stages are monotone, kinds of fact stay apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.funnel import STAGES, FactRow, Fate, funnel, funnels_by

fates = st.builds(
    Fate,
    name=st.just("f"),
    role=st.sampled_from(["governing", "rule", "superseded", "decoy"]),
    stage=st.sampled_from(STAGES),
    lost=st.sampled_from(["", "not written", "score: 0.2 is below 1", "unknown: no listing"]),
    corrupted=st.booleans(),
)
rows = st.builds(
    FactRow, st.sampled_from("ab"), st.sampled_from(["C1", "C2"]), st.sampled_from("XY"), st.just(""), fates
)


@given(st.lists(fates))
def test_ends_sum_and_stages_are_monotone(found: list[Fate]) -> None:
    got = funnel(found)
    assert got.injected == sum(got.ends.values()) == len(found) == got.reached("injected")
    reached = [got.reached(stage) for stage in STAGES]
    assert reached == sorted(reached, reverse=True)
    assert sum(got.causes.values()) == sum(bool(fate.lost) for fate in found)


@given(st.lists(rows))
def test_groups_hold_every_fact_once(found: list[FactRow]) -> None:
    both = [funnels_by(found, lambda row: row.construct, governing=g) for g in (True, False)]
    assert sum(f.injected for groups in both for f in groups.values()) == len(found)


def test_facts_that_must_not_be_used_stand_apart() -> None:
    found = [
        FactRow("t", "C3", "X", "", Fate("new", "governing", "used", "")),
        FactRow("t", "C3", "X", "", Fate("old", "superseded", "written", "superseded after sleep")),
    ]
    governing = funnels_by(found, lambda row: row.construct, governing=True)[("C3", "X")]
    avoid = funnels_by(found, lambda row: row.construct, governing=False)[("C3", "X")]
    assert (governing.ends["used"], governing.injected) == (1, 1)
    assert (avoid.ends["written"], avoid.reached("admitted")) == (1, 0)


def test_causes_of_a_kind_count_together_and_unknown_is_told_apart() -> None:
    got = funnel(
        [
            Fate("a", "governing", "alive", "score: 0.412 is below 1.000"),
            Fate("b", "governing", "alive", "score: 0.9 is below 1.000"),
            Fate("c", "governing", "alive", "status: it is superseded"),
            Fate("d", "governing", "written", "unknown: no listing"),
        ]
    )
    assert next(iter(got.causes.items())) == (("alive", "score"), 2)
    assert got.causes["alive", "status: it is superseded"] == 1
    assert got.unknown == 1
