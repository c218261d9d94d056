"""A run with an agent that calls a model: what is recorded, what is limited, what is paid for once."""

from __future__ import annotations

import base64
import json
import secrets
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.config import load
from harness.door import Halt
from harness.leftovers import lost
from harness.outcome import Boundary, Outcome, UsageFault
from harness.run import prepare
from harness.rundir import RunDir
from tests.harness.model_kit import MODEL, WORK, play, words
from tests.model.faults import Fault, Status, holding
from tests.model.log import Entry
from tests.model.script import Function, Seen, Shell, Turn
from tests.model.server import ModelServer

PRICES = f'schema = 1\nversion = "test"\n[model."{MODEL}"]\ninput = 1000.0\noutput = 1000.0\n'
#: No long waits for an endpoint that is down.
QUICK = ("model.attempts=2", "model.wait=0.01")


def outcomes(records: list) -> dict[str, str]:
    return {record.condition: record.endings[0].outcome.value for record in records}


def test_what_the_memory_kept_reaches_the_model_and_what_it_used_is_recorded(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    with ModelServer(WORK) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B0,B5"])
        assert outcomes(played.records) == {"B0": "failed", "B5": "pass"}
        sessions = [session for _, _, session in played.sessions]
        assert len(server.log.entries()) == 12
    folder = RunDir.open(tmp_path / "run")
    assert [(s.number, s.network) for s in sessions] == [(n, "model") for n in (1, 2, 3, 1, 2, 3)]
    for session in sessions:
        assert session.model is not None
        (used,) = session.model.tokens
        assert (session.model.calls, used.model, used.calls) == (2, MODEL, 2)
        assert used.input is not None
        assert used.input > 20
        assert (session.model.usd, session.model.unpriced) == (None, (MODEL,))
        lines = folder.get_packed(session.model.exchange, 1 << 24).splitlines()
        assert [json.loads(line)["end"] for line in lines] == ["whole", "whole"]
        assert (
            folder.get_blob(session.prompt).decode()
            in json.loads(json.loads(lines[0])["request"])["messages"][0]["content"]
        )
    assert not list((tmp_path / "run" / "exchanges").iterdir())


def test_the_key_is_nowhere_in_the_run(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-" + secrets.token_urlsafe(24)
    monkeypatch.setenv("TEST_MODEL_KEY", key)
    with ModelServer(WORK, key=key) as server:
        played = play(server, box, mini, tmp_path / "run")
    assert [r.endings[0].outcome for r in played.records] == [Outcome.FAILED]
    forms = [key.encode()] + [base64.b64encode(b"x" * n + key.encode())[4:-4] for n in range(3)]
    files = [p for p in (tmp_path / "run").rglob("*") if p.is_file()]
    held = [p for p in files for data in [p.read_bytes(), unpacked(p)] for form in forms if form in data]
    assert (len(files) > 20, held) == (True, [])


def unpacked(path: Path) -> bytes:
    import zlib

    try:
        return zlib.decompress(path.read_bytes())
    except zlib.error:
        return b""


def test_a_run_without_its_key_says_which_variable_and_makes_nothing(mini: Mapping[str, str], tmp_path: Path) -> None:
    with ModelServer(WORK, key="sk-" + "0" * 20) as server, pytest.raises(UsageFault) as told:
        prepare(load(None, words(server), dict(mini)), tmp_path / "run")
    assert str(told.value) == "model.key_env: the environment variable TEST_MODEL_KEY is not set"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["model.name="], "{model} stands in the command, but model.name is not set"),
        (["model.base_url="], "model.base_url: where the model answers"),
        (["model.base_url=ftp://x"], "the base URL of a model endpoint is http(s)://host"),
        (["agent.name=reference"], "model.name: the agent 'reference' calls no model"),
        (["model.prices=/nowhere/prices.toml"], "model.prices: /nowhere/prices.toml: No such file"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused_with_its_key(
    more: list[str], told: str, mini: Mapping[str, str], tmp_path: Path
) -> None:
    with ModelServer(WORK) as server, pytest.raises(UsageFault) as raised:
        prepare(load(None, words(server, *more), dict(mini)), tmp_path / "run")
    assert told in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_an_endpoint_that_stays_down_is_ours_and_what_was_finished_before_is_not_paid_again(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    out, broken = tmp_path / "run", []

    def from_then_on(entry: Entry) -> bool:
        if entry.holds("Labels end with"):
            broken.append(entry)
        return bool(broken)

    with ModelServer(WORK, faults=[Fault(Status(500), from_then_on)]) as server:
        first = play(server, box, mini, out, ["conditions=B5", *QUICK])
        (ending,) = first.records[0].endings
        assert (ending.outcome, ending.boundary) == (Outcome.INVALID, Boundary.MODEL)
        assert "500" in ending.cause
        asked = len(server.log.entries())
        server.faults = ()
        second = play(server, box, mini, out, ["conditions=B5", *QUICK])
        assert outcomes(second.records) == {"B5": "pass"}
        assert len(server.log.entries()) - asked == 2  # those of S3 alone
    again = [(attempt, s.number, s.paid_in) for _, attempt, s in second.sessions]
    assert again == [(1, 1, None), (1, 2, None), (1, 3, None), (2, 1, 1), (2, 2, 1), (2, 3, None)]


def test_a_request_that_is_answered_by_errors_for_ever_is_the_agents_doing(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    with ModelServer(WORK, faults=[Fault(Status(500), holding("Labels end with"))]) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B5", *QUICK])
    (ending,) = played.records[0].endings
    assert (ending.outcome, ending.cause, ending.boundary) == (
        Outcome.FAILED,
        "request errors: no edit",
        Boundary.AGENT,
    )
    assert [s.model.hit for _, _, s in played.sessions if s.model] == [(), (), ("errors",)]


def test_an_endpoint_that_came_back_meanwhile_was_down(box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    """The same request is answered when it is sent once more: it was not its doing."""
    late: list[Entry] = []

    def for_a_while(entry: Entry) -> bool:
        late.extend([entry] if entry.holds("Labels end with") else [])
        return 0 < len(late) <= 2

    with ModelServer(WORK, faults=[Fault(Status(500), for_a_while)]) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B5", *QUICK])
    (ending,) = played.records[0].endings
    assert (ending.outcome, ending.boundary) == (Outcome.INVALID, Boundary.MODEL)


def test_a_session_that_goes_on_without_end_is_stopped_by_its_calls_and_counts(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    def endless(seen: Seen) -> Turn:
        return Shell("true")

    with ModelServer(Function(endless)) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B0", "model.calls=3"])
        assert len(server.log.entries()) == 9
    (ending,) = played.records[0].endings
    assert (ending.outcome, ending.cause, ending.boundary) == (Outcome.FAILED, "calls limit: no edit", Boundary.AGENT)


def test_a_run_stops_when_its_money_is_spent_and_goes_on_with_more(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    more = ["conditions=B0,B5", f"model.prices={prices}"]
    with ModelServer(WORK) as server:
        with pytest.raises(Halt) as told:
            play(server, box, mini, tmp_path / "run", more, max_cost=Decimal("0.2"))
        assert "max-cost" in str(told.value)
        stopped = len(server.log.entries())
        assert 1 <= stopped < 12
        done = play(server, box, mini, tmp_path / "run", more, max_cost=Decimal(1000))
        assert outcomes(done.records) | {"B0": "failed"} == {"B0": "failed", "B5": "pass"}
        asked = len(server.log.entries())
    paid = sum(s.model.calls for _, _, s in done.sessions if s.model and not s.paid_in)
    assert paid == asked
    per_arm = Counter(
        (arm, s.number) for arm, _, s in done.sessions if s.model and not s.paid_in and not s.model.trouble
    )
    assert set(per_arm.values()) == {1}


def test_a_limit_in_money_needs_prices(box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    with ModelServer(WORK) as server, pytest.raises(UsageFault, match=f"no price for model {MODEL}"):
        play(server, box, mini, tmp_path / "run", max_cost=Decimal(1))


def test_nothing_is_lost_of_a_run_without_leftovers(box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    with ModelServer(WORK) as server:
        play(server, box, mini, tmp_path / "run")
    assert lost(RunDir.open(tmp_path / "run")) == []
