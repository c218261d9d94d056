"""Faults of a model endpoint on demand: each ends in the right outcome and boundary, within the limits."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from tests.harness.model_kit import WORK, play
from tests.model.faults import (
    BadJson,
    BrokenArguments,
    Cut,
    Empty,
    Fault,
    Huge,
    Loop,
    Reset,
    Slow,
    Status,
    UnknownTool,
    WrongType,
    always,
    at,
)
from tests.model.script import Function, Script, Seen, Shell, Turn
from tests.model.server import ModelServer

QUICK = ("conditions=B5", "model.attempts=3", "model.wait=0.01", "model.calls=6")
PASS = ("pass", "", None)


def failed(cause: str) -> tuple[str, str, str]:
    return "failed", cause, "agent"


def down(cause: str) -> tuple[str, str, str]:
    return "invalid", cause, "model"


#: name -> (fault, outcome, cause as it begins, boundary)
CASES: Mapping[str, tuple[Fault, tuple[str, str, str | None]]] = {
    "429, then an answer": (Fault(Status(429, retry_after=0), at(1, 2, 5)), PASS),
    "500, then an answer": (Fault(Status(500), at(1)), PASS),
    "reset, then an answer": (Fault(Reset(), at(1, 3)), PASS),
    "slow bytes": (Fault(Slow(64, 0.001), always), PASS),
    "429 for ever": (Fault(Status(429), always), down("")),
    "503 for ever": (Fault(Status(503), always), down("")),
    "401": (Fault(Status(401), always), down("")),
    "reset for ever": (Fault(Reset(), always), down("")),
    "answers that are cut": (Fault(Cut(30), always), down("the endpoint broke off its last answer")),
    "an empty body": (Fault(Empty(), always), down("the endpoint's last answer is no JSON")),
    "bad JSON": (Fault(BadJson(), always), down("the endpoint's last answer is no JSON")),
    "a page of a proxy": (Fault(WrongType(), always), down("the endpoint's last answer is no JSON")),
    "a tool that was not offered": (Fault(UnknownTool(), at(5)), failed("no edit")),
    "arguments that are cut": (Fault(BrokenArguments(), at(5)), failed("no edit")),
    "an endless loop": (Fault(Loop(), always), failed("calls limit: no edit")),
    "a reply of ten megabytes": (Fault(Huge(), at(5)), failed("no edit")),
}


#: In the default suite: one that passes, one that is ours at once, one that only the exchange tells, one of the agent.
AT_ONCE = {"500, then an answer", "503 for ever", "answers that are cut", "an endless loop"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in AT_ONCE else (pytest.mark.long,)) for name in CASES]
)
def test_a_fault_ends_in_the_right_outcome(name: str, box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    fault, (outcome, cause, boundary) = CASES[name]
    model = f"scripted-{secrets.token_hex(8)}"  # a word of the agent's command, by which its processes are found
    with ModelServer(WORK, faults=[fault]) as server:
        played = play(server, box, mini, tmp_path / "run", [*QUICK, f"model.name={model}"])
    (ending,) = played.records[0].endings
    assert (ending.outcome.value, ending.boundary and ending.boundary.value) == (outcome, boundary), ending.cause
    assert ending.cause.startswith(cause)
    assert running(model) == []


def test_an_endpoint_that_says_nothing_until_the_time_is_up_is_down(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    outcome = _hang(WORK, box, mini, tmp_path, lambda seen: time.sleep(4) or WORK.turn(seen))
    assert outcome == down("the endpoint said nothing in the last")


@pytest.mark.long
def test_an_agent_that_is_slow_is_not(box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    def slow(seen: Seen) -> Turn:
        return WORK.turn(seen) if "Labels end with" not in seen.text() else Shell("sleep 30")

    outcome = _hang(WORK, box, mini, tmp_path, slow)
    assert outcome == failed("timeout")


def _hang(
    script: Script, box: Sandbox, mini: Mapping[str, str], tmp_path: Path, last: Callable[[Seen], Turn]
) -> tuple[str, str, str | None]:
    def turn(seen: Seen) -> Turn:
        return last(seen) if "Labels end with" in seen.text() else script.turn(seen)

    with ModelServer(Function(turn)) as server:
        played = play(server, box, mini, tmp_path / "run", [*QUICK, "limits.wall=3"])
    (ending,) = played.records[0].endings
    known = ("the endpoint said nothing in the last", "timeout")
    cause = next((word for word in known if ending.cause.startswith(word)), ending.cause)
    return ending.outcome.value, cause, ending.boundary and ending.boundary.value


def running(word: str) -> list[str]:
    """Processes that have that word in their command."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = path.read_bytes()
        except OSError:
            continue
        found += [path.parent.name] if word.encode() in said else []
    return found


def test_the_names_of_the_cases_are_all_kinds_of_faults() -> None:
    kinds: Sequence[type] = [type(fault.kind) for fault, _ in CASES.values()]
    assert set(kinds) == {
        *(BadJson, BrokenArguments, Cut, Empty, Huge, Loop, Reset, Slow, Status, UnknownTool, WrongType),
    }
