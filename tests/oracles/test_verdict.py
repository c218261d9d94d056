"""The strict reader of the judge's last message, and what a verdict means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.verdict import (
    MAX_VERDICT,
    CheckInfo,
    CheckResult,
    MessageError,
    Verdict,
    read_checks,
    read_message,
    read_verdict,
)

CHECKS = (CheckInfo("a", "A", "requires"), CheckInfo("b", "B", "forbids"))
GOOD = {
    "op": "verdict",
    "results": [
        {"name": "a", "held": True, "choked": False, "detail": ""},
        {"name": "b", "held": False, "choked": False, "detail": "x"},
    ],
}


def _line(message: Any) -> bytes:
    return json.dumps(message).encode()


def _changed(**fields: Any) -> bytes:
    return _line({**GOOD, "results": [{**GOOD["results"][0], **fields}, GOOD["results"][1]]})  # type: ignore[dict-item]


def test_a_good_verdict() -> None:
    results = read_verdict(_line(GOOD), CHECKS)
    assert results == (CheckResult("a", "A", "requires", True), CheckResult("b", "B", "forbids", False, detail="x"))


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{", b"null", b"1", b"[]", b'"pass"', b"pass", b"2 passed", b"\xff", b"NaN", b"{}", b"[" * 100_000),
        *(_line(GOOD) + b"x", _line(GOOD) + _line(GOOD), _line(GOOD) + b"\n" + _line(GOOD), _line(GOOD)[:-1]),
        _line({**GOOD, "extra": 1}),
        _line({"op": "verdict"}),
        _line({**GOOD, "op": "ready"}),
        _line({**GOOD, "results": []}),
        _line({**GOOD, "results": GOOD["results"][:1]}),
        _line({**GOOD, "results": [*GOOD["results"], GOOD["results"][0]]}),
        _line({**GOOD, "results": GOOD["results"][::-1]}),
        _line({**GOOD, "results": {"a": True}}),
        *(_changed(held=value) for value in (1, 0, None, "true", 1.0, float("nan"), float("inf"), [], {})),
        *(_changed(choked=value) for value in (1, None, "false")),
        *(_changed(detail=value) for value in (None, 1, "x" * 1001, "a\nb", "\x1b[2J", "\ud800")),
        _changed(name="b"),
        _changed(extra=1),
        _changed(choked=True),
        _line(GOOD).replace(b'"held": true', b'"held": false, "held": true'),
        _line(GOOD).replace(b'"held": true', b'"held": 1e309'),
        _line(GOOD).replace(b'"held": true', b'"held": Infinity'),
        _line(GOOD).replace(b'"op"', b'"op": "x", "op"'),
        b" " * (MAX_VERDICT + 1) + _line(GOOD),
        b"x" * 10_000_000,
    ],
)
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(MessageError):
        read_verdict(line, CHECKS)


@given(st.binary(max_size=200) | st.integers(0, len(_line(GOOD)) - 1).map(lambda cut: _line(GOOD)[:cut]))
def test_garbage_is_refused(line: bytes) -> None:
    with pytest.raises(MessageError):
        read_verdict(line, CHECKS)


@given(st.integers(0, len(_line(GOOD)) - 1), st.integers(0, 255))
def test_one_changed_byte_never_turns_a_verdict(at: int, byte: int) -> None:
    line = bytearray(_line(GOOD))
    line[at] = byte
    try:
        results = read_verdict(bytes(line), CHECKS)
    except MessageError:
        return
    assert [(r.name, r.held, r.choked) for r in results] == [("a", True, False), ("b", False, False)]


@pytest.mark.parametrize(
    "rows", [None, {}, [1], [["a", "A"]], [["a", "A", "xfail"]], [["a", 1, "requires"]], [["a", "A", "requires"]] * 2]
)
def test_malformed_checks_are_refused(rows: Any) -> None:
    with pytest.raises(MessageError):
        read_checks(rows)


def test_a_message_has_no_key_twice() -> None:
    with pytest.raises(MessageError):
        read_message(b'{"a": 1, "a": 1}', 100)


def _result(kind: Any, held: bool, choked: bool = False) -> CheckResult:
    return CheckResult("n", "t", kind, held, choked)


@pytest.mark.parametrize(
    ("results", "outcome"),
    [
        ([], "failed"),
        ([_result("requires", True)], "pass"),
        ([_result("requires", True), _result("forbids", False)], "pass"),
        ([_result("requires", False)], "failed"),
        ([_result("requires", False), _result("forbids", True)], "trapped"),
        ([_result("requires", True), _result("forbids", True)], "trapped"),
        ([_result("requires", True), _result("forbids", False, True)], "failed"),
        ([_result("requires", False, True)], "failed"),
    ],
)
def test_outcome(results: list[CheckResult], outcome: str) -> None:
    assert Verdict(tuple(results)).outcome == outcome
