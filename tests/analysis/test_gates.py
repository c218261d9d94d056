"""Validity gates at and beside their bounds."""

from __future__ import annotations

import pytest

from analysis.family import Gates
from analysis.gates import contrast_gates, headroom, strata, warmup
from analysis.rates import Rate
from analysis.records import CellRecord, Outcome

GATES = Gates(min_traps=2)


def cells(condition: str, outcomes: dict[str, list[Outcome]], construct: str = "C1") -> list[CellRecord]:
    return [CellRecord(t, construct, condition, n, o) for t, row in outcomes.items() for n, o in enumerate(row, 1)]


@pytest.mark.parametrize(
    ("passed", "counted", "status", "caveat"),
    [(40, 100, "holds", False), (41, 100, "holds", True), (50, 100, "holds", True), (51, 100, "fails", False)],
)
def test_headroom(passed: int, counted: int, status: str, caveat: bool) -> None:
    gate = headroom(Rate(passed, counted), GATES)
    assert (gate.status, "caveat" in gate.note) == (status, caveat)


def test_what_was_not_measured_does_not_hold() -> None:
    assert headroom(Rate(0, 0), GATES).status == "not measured"
    assert warmup(None, None, GATES).status == "not measured"
    assert warmup(0, 0, GATES).status == "not measured"
    assert warmup(80, 100, GATES).status == "holds"
    assert "not called memory failures" in warmup(287, 360, GATES).note


def test_contrast_gates() -> None:
    a = cells("A", {"t1": ["pass", "pass"], "t2": ["pass", "invalid"]})
    b = cells("B", {"t1": ["pass", "pass"], "t2": ["pass", "pass"]})
    enough, first, second = contrast_gates(a, b, GATES)
    assert (enough.status, enough.value) == ("fails", 1)
    assert (first.status, first.value) == ("fails", 0.25)
    assert (second.status, second.value) == ("holds", 0)


def test_a_stratum_needs_a_floor_a_difference_and_headroom() -> None:
    def judge(**passes: int) -> tuple[str, ...]:
        sides = {name: cells(name, {"t": ["pass"] * n + ["failed"] * (20 - n)}) for name, n in passes.items()}
        (found,) = strata(sides, GATES, poisoned={"t"})
        return found.failures

    assert judge(B0=0, A=3) == ()
    assert judge(B0=0, A=2) == ("the best condition reaches 0.100, below 0.15",)
    assert judge(B0=5, A=5) == ("conditions do not differ",)
    assert judge(B0=11, A=12) == ("no headroom: B0 passes 11/20",)
    assert judge(B0=0, A=3, POISON=11) == ("poison does no harm: POISON passes 11/20",)
    assert judge(A=3, C=4) == ("no B0 to show headroom",)
    # POISON is not what reaches the floor
    assert judge(B0=0, A=0, POISON=8)[0].startswith("the best condition reaches 0.000")


def test_headroom_of_a_stratum_is_judged_at_the_matched_endpoint() -> None:
    main = {"B0": cells("B0", {"t": ["pass"]}), "A": cells("A", {"t": ["failed"]})}
    matched = {"B0": cells("B0", {"t": ["failed"]}), "A": cells("A", {"t": ["failed"]})}
    (alone,), (both,) = strata(main, GATES), strata(main, GATES, matched=matched)
    assert "no headroom" in " ".join(alone.failures)
    assert "no headroom" not in " ".join(both.failures)
