"""Bad rows are refused by number, with the reason in the message."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.records import OUTCOMES, ArmRow, RecordError, arm_rows, cell_records

ARM: dict[str, Any] = {
    "trap": "c1_a",
    "construct": "C1",
    "condition": "B5",
    "seed": 1,
    "history": "given",
    "main": True,
    "reader": "careful",
    "outcome": "pass",
}
CELL: dict[str, Any] = {"trap": "c1_a", "construct": "C1", "condition": "B5", "seed": 1, "outcome": "pass"}


def test_good_rows_come_back_typed() -> None:
    rows = arm_rows([ARM, {**ARM, "seed": 2, "outcome": "trapped", "cause": "old value"}])
    assert rows[1] == ArmRow("c1_a", "C1", "B5", 2, "given", True, "careful", "trapped", "old value")
    assert [c.outcome for c in cell_records({**CELL, "seed": n, "outcome": o} for n, o in enumerate(OUTCOMES))] == list(
        OUTCOMES
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trap": ""}, "row 1: trap is missing"),
        ({"trap": None}, "row 1: trap is None"),
        ({"outcome": "passed"}, "row 1: unknown outcome 'passed'"),
        ({"outcome": float("nan")}, "row 1: outcome is nan"),
        ({"seed": float("nan")}, "row 1: seed is nan, expected int"),
        ({"seed": True}, "row 1: seed is True"),
        ({"seed": "2"}, "row 1: seed is '2'"),
        ({"main": 1}, "row 1: main is 1"),
        ({"condition": "  "}, "row 1: condition is missing"),
        ({"extra": 1}, r"row 1: unknown keys \['extra'\]"),
        ({"construct": "C2"}, "row 1: trap 'c1_a' is C2 here and C1 in row 0"),
        ({"seed": 1}, "row 1: the same as row 0"),
    ],
)
def test_a_bad_row_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message) as error:
        arm_rows([ARM, {**ARM, "seed": 2, **change}])
    assert error.value.row == 1


@pytest.mark.parametrize("name", [k for k in ARM if k != "reader"])
def test_a_missing_key_is_named(name: str) -> None:
    row = {k: v for k, v in ARM.items() if k != name}
    with pytest.raises(RecordError, match=f"row 0: missing {name}"):
        arm_rows([row])
