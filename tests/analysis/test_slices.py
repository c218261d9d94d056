"""Slices, standardised rates and exclusion bounds by hand."""

from __future__ import annotations

import pytest

from analysis.outcomes import TrapInfo
from analysis.records import CellRecord, Outcome
from analysis.slices import crashed, exclusions, slices, standardised

TRAPS = {
    "t1": TrapInfo("C1", "x", "mini", "verbatim", False),
    "t2": TrapInfo("C2", "x", "mini", "", True),
    "t3": TrapInfo("C10", "y", "mini", "", True),
    "t4": TrapInfo("C1", "y", "mini", "verbatim", False, removed=True),
}


def side(condition: str, outcomes: dict[str, list[Outcome]], cause: str = "") -> list[CellRecord]:
    return [
        CellRecord(t, TRAPS[t].construct, condition, n, o, "", cause if o == "failed" else "")
        for t, row in outcomes.items()
        for n, o in enumerate(row, 1)
    ]


A = side("A", {"t1": ["pass", "pass"], "t2": ["pass", "failed"], "t3": ["failed", "failed"], "t4": ["pass", "pass"]})
B = side(
    "B", {"t1": ["failed", "pass"], "t2": ["failed", "failed"], "t3": ["pass", "pass"], "t4": ["failed", "failed"]}
)


def test_every_dimension_is_sliced_without_removed_traps() -> None:
    found = {(s.dimension, s.value): (s.traps, s.paired, s.b, s.c, s.D) for s in slices(A, B, TRAPS)}
    assert found == {
        ("construct", "C1"): (1, 2, 1, 0, 1),
        ("construct", "C2"): (1, 2, 1, 0, 1),
        ("construct", "C10"): (1, 2, 0, 2, -2),
        ("family", "x"): (2, 4, 2, 0, 2),
        ("family", "y"): (1, 2, 0, 2, -2),
        ("fixture", "mini"): (3, 6, 2, 2, 0),
        ("evidence", "verbatim"): (1, 2, 1, 0, 1),
        ("start", "carried on"): (1, 2, 1, 0, 1),
        ("start", "clean start"): (2, 4, 1, 2, -1),
        ("without construct", "C1"): (2, 4, 1, 2, -1),
        ("without construct", "C2"): (2, 4, 1, 2, -1),
        ("without construct", "C10"): (2, 4, 2, 0, 2),
        ("removed later", "traps put back"): (4, 8, 4, 2, 2),
    }


def test_cells_whose_tree_carried_a_fact_are_left_out() -> None:
    found = {s.dimension: s for s in slices(A, B, TRAPS, [("t1", "A", 1), ("t2", "elsewhere", 1)])}
    assert (found["carried_by_tree"].paired, found["carried_by_tree"].D) == (5, -1)
    assert "carried_by_tree" not in {s.dimension for s in slices(A, B, TRAPS, [("t1", "elsewhere", 1)])}


def test_standardised_to_a_mix() -> None:
    found = standardised(A, B, TRAPS, {"C1": 3, "C2": 1})
    assert (found.first, found.second) == (0.75 + 0.125, 0.375)
    assert found.difference == pytest.approx(0.5)
    gap = standardised(A, B, TRAPS, {"C1": 3, "C9": 1})
    assert (gap.difference, gap.missing) == (None, ("C9",))
    assert standardised(A, B, TRAPS, {}).difference is None


def test_exclusions_and_their_bounds() -> None:
    first = side("A", {"t1": ["failed", "pass"], "t2": ["invalid", "failed"]}, "agent exited with 1")
    second = side("B", {"t1": ["failed", "pass"], "t2": ["pass", "pass"]}, "old value")
    assert [crashed(c) for c in first] == [True, False, False, True]
    found = exclusions(first, second)
    assert found.excluded == 3
    assert (found.published.paired, found.published.D) == (1, 0)
    assert (found.best.paired, found.best.D, found.best.b) == (4, 1, 1)
    assert (found.worst.D, found.worst.c) == (-2, 2)
