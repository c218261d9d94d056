"""Rows from outside: what is accepted, and that whatever cannot be used stops everything and is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis.outcomes import TrapInfo, from_csv, from_json, from_rows
from analysis.records import RecordError


def rows(traps: int = 2, conditions: str = "AB", seeds: int = 2, **more: Any) -> list[dict[str, Any]]:
    return [
        {"trap": f"t{t}", "condition": c, "seed": s, "outcome": "pass", **more}
        for t in range(traps)
        for c in conditions
        for s in range(1, seeds + 1)
    ]


def changed(number: int, **change: Any) -> list[dict[str, Any]]:
    found = rows()
    found[number] |= change
    return found


@pytest.mark.parametrize(
    ("data", "row", "message"),
    [
        ([*rows(), rows()[3]], 8, "the same as row 3"),
        (changed(2, trap=""), 2, "trap is missing"),
        (changed(2, trap=None), 2, "missing trap"),
        (changed(2, trap=7), 2, "trap is 7, expected str"),
        (changed(5, outcome=float("nan")), 5, "outcome is nan"),
        (changed(5, seed=float("nan")), 5, "seed is nan"),
        (changed(5, seed=True), 5, "seed is True"),
        (changed(5, outcome="passed"), 5, "unknown outcome 'passed'"),
        (changed(5, outcome=1), 5, "outcome is 1"),
        (changed(5, endpoint="best"), 5, "unknown endpoint"),
        (changed(5, colour="red"), 5, r"unknown keys \['colour'\]"),
        (changed(5, clean_start="yes"), 5, "clean_start is 'yes'"),
        (changed(5, history="given"), 0, "history is missing, and other rows have one"),
        (rows(traps=1), 0, "the only trap is 't0'"),
        (rows()[:-1], 5, "trap 't1', seed 2: B lacks seed 2 that A has here"),
        (rows()[:-2], 4, "trap 't1', seed 1: B lacks the trap that A has here"),
        (changed(5, seed=3), 5, "seed 3: B lacks seed 3"),
        ([*rows(), "x"], 8, "expected an object"),
    ],
)
def test_a_bad_row_stops_and_is_named(data: list[Any], row: int, message: str) -> None:
    with pytest.raises(RecordError, match=message) as error:
        from_rows(data)
    assert error.value.row == row
    assert str(error.value).startswith(f"row {row}: ")


@pytest.mark.parametrize(
    ("label", "values"),
    [("construct", ("C1", "C2")), ("family", ("a", "b")), ("clean_start", (True, False)), ("removed", (True, False))],
)
def test_contradicting_labels(label: str, values: tuple[object, object]) -> None:
    data = changed(0, **{label: values[0]})
    data[3][label] = values[1]
    with pytest.raises(RecordError, match=f"row 3: trap 't0': {label} is .* in row 0"):
        from_rows(data)


def test_labels_may_stand_in_one_row() -> None:
    found = from_rows(changed(0, construct="C3", fixture="mini", clean_start=True))
    assert found.traps["t0"] == TrapInfo("C3", fixture="mini", clean_start=True)
    assert found.traps["t1"] == TrapInfo()
    assert {c.construct for c in found.cells["main"] if c.trap == "t0"} == {"C3"}


def test_endpoints_of_cells() -> None:
    found = from_rows([*rows(), *rows(endpoint="matched")])
    assert {name: len(cells) for name, cells in found.cells.items()} == {"matched": 8, "main": 8}
    with pytest.raises(RecordError, match="row 12: trap 't1', seed 1: B lacks"):
        from_rows([*rows(), *rows(endpoint="matched")[:-2]])


def test_arms_become_cells_at_both_endpoints() -> None:
    given = rows(history="given", endpoint="main")
    other = rows(history="other", endpoint="matched")
    other[0]["outcome"] = "trapped"
    found = from_rows([*given, *other])
    outcomes = {name: [c.outcome for c in cells].count("pass") for name, cells in found.cells.items()}
    assert outcomes == {"matched": 7, "main": 8}
    assert list(from_rows(other).cells) == ["matched"]


def test_csv() -> None:
    text = "trap,condition,seed,outcome,clean_start\n" + "".join(
        f"{r['trap']},{r['condition']},{r['seed']},{r['outcome']},{'true' if r['trap'] == 't0' else ''}\n"
        for r in rows()
    )
    found = from_csv(text)
    assert found.cells == from_rows(rows()).cells
    assert [info.clean_start for info in found.traps.values()] == [True, None]
    for old, new, message in [
        ("t1,A,2", "t1,A,x", "row 5: seed is 'x'"),
        ("t1,A,2", "t1,A,nan", "row 5: seed is 'nan'"),
        ("t1,A,2", ",A,2", "row 5: missing trap"),
        ("t1,A,2,pass", "t1,A,2,pass,true", "row 5: 6 values under 5 columns"),
        ("t1,A,2,pass", "t1,A,2,PASS", "row 5: unknown outcome 'PASS'"),
        ("pass,true", "pass,yes", "row 0: clean_start is 'yes'"),
        ("seed,outcome", "seed,seed", "column name occurs twice"),
    ]:
        with pytest.raises(RecordError, match=message):
            from_csv(text.replace(old, new, 1))


def test_json() -> None:
    found, rest = from_json(json.dumps({"rows": rows(), "warmup": [1, 2]}))
    assert found == from_json(json.dumps(rows()))[0]
    assert rest == {"warmup": [1, 2]}
    for text, message in [
        ("[", "no JSON"),
        ("{}", "expected a list"),
        ("[]", "no rows"),
        (json.dumps(changed(1, outcome=float("nan"))), "row 1: outcome is nan"),
    ]:
        with pytest.raises(RecordError, match=message):
            from_json(text)


def test_a_repeated_json_key_is_no_silent_choice() -> None:
    text = json.dumps(rows()).replace('"outcome": "pass"', '"outcome": "failed", "outcome": "pass"', 1)
    with pytest.raises(RecordError, match="key 'outcome' occurs twice"):
        from_json(text)
