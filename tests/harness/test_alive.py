"""Which exchange of a session is asked again when its endpoint was taken to be down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.alive import _last_down, broken


def row(**changes: Any) -> dict[str, Any]:
    whole = {
        "attempts": [{"status": 500}],
        "end": "down",
        "status": 500,
        "target": "/x",
        "request": "{}",
        "response": "",
    }
    return {**whole, **changes}


@pytest.mark.parametrize(
    ("last", "found"),
    [
        (row(), True),
        (row(end="left"), True),  # the agent hung up at the status line
        (row(end="left", status=None), True),
        (row(end="left", status=200), False),
        (row(end="whole", status=200), False),
        (row(attempts=[]), False),  # refused at once, because an earlier one had failed
    ],
)
def test_the_one_that_failed_is_found_however_it_ended(last: dict[str, Any], found: bool, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        json.dumps(row(end="whole", status=200, number=1)) + "\n" + json.dumps({**last, "number": 2}) + "\n"
    )
    told = _last_down(path)
    assert (told["number"] if told else None) == (2 if found else None)


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (row(end="cut", status=200), "the endpoint broke off its last answer"),
        (row(end="whole", status=200, response="<p>"), "the endpoint's last answer is no JSON"),
        (row(end="whole", status=200, response="data: {}\n\ndata: [DONE]\n\n"), ""),
        (row(end="whole", status=200, response="data: {\n\n"), "the endpoint's last answer is no JSON"),
        (row(end="whole", status=200, response='{"a": 1}'), ""),
        (row(end="left", status=200), ""),
    ],
)
def test_the_last_answer_decides_whether_it_was_one(last: dict[str, Any], why: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(row(end="cut", status=200)) + "\n" + json.dumps(last) + "\n")
    assert broken(path) == why
