"""A model asked from the harness goes through the relay: its key, limits, counts and transcript are the relay's."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from containers.relay import Dialect, Patience, Quota, Relay, Upstream, routes
from harness.asking import Asked, dialect_of
from harness.bank import ask
from harness.config import ModelConfig, load
from harness.outcome import Boundary, Fault, UsageFault
from memory_probe.model import Answer, ModelFault
from memory_probe.protocol import MemoryFault
from tests.containers.relay_kit import Model as Endpoint
from tests.containers.relay_kit import answer
from tests.memory_probe.model_kit import MODEL, asking, saying
from tests.model import faults
from tests.model.script import Seen

ECHO = saying(lambda seen: f"{seen.system} / {seen.last()}")
DIALECTS = (Dialect.CHAT, Dialect.ANTHROPIC)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_goes_in_and_text_comes_out_with_the_endpoints_own_count(dialect: Dialect, tmp_path: Path) -> None:
    with asking(ECHO, tmp_path, dialect) as (model, server):
        said = model.ask("be brief", "one two\x00 grüße\r\n畑 \ud800", 77)
        # what no endpoint can carry is replaced, everything else arrives as it is
        assert said == Answer("be brief / one two\x00 grüße\r\n畑 ?", 7, 8)
        assert said.tokens == 15
        (request,) = server.log.asked()
        body = json.loads(request.body)
        assert (body["model"], body["max_tokens"], body["temperature"]) == (MODEL, 77, 0)
        assert "stream" not in body
        ledger = model.ledger()
    assert (ledger.calls, [(u.model, u.calls) for u in ledger.usage]) == (1, [(MODEL, 1)])
    assert ledger.tokens is not None
    assert (ledger.tokens.input, ledger.tokens.output) == (7, 8)
    (row,) = [json.loads(line) for line in (tmp_path / "exchange-0.jsonl").read_text().splitlines()]
    assert (row["status"], row["end"], row["dialect"]) == (200, "whole", dialect.value)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_limit_is_no_answer_and_stands_in_the_ledger(dialect: Dialect, tmp_path: Path) -> None:
    with asking(ECHO, tmp_path, dialect, Quota(calls=1)) as (model, _):
        model.ask("s", "t", 9)
        with pytest.raises(ModelFault, match="status 429: a limit of this session is reached: calls"):
            model.ask("s", "t", 9)
        assert (model.ledger().hit, model.ledger().calls) == (("calls",), 1)


def test_trouble_is_sat_out_and_an_endpoint_that_stays_down_is_the_models_fault(tmp_path: Path) -> None:
    busy = [faults.Fault(faults.Status(429), faults.at(1)), faults.Fault(faults.Status(500), faults.at(2))]
    with asking(ECHO, tmp_path, faults=busy) as (model, _):
        assert model.ask("s", "t", 9).text == "s / t"
        assert (model.ledger().repeats, model.ledger().calls) == (2, 1)
    with asking(ECHO, tmp_path, faults=[faults.Fault(faults.Status(500), faults.always)]) as (model, _):
        with pytest.raises(ModelFault, match="status 5"):
            model.ask("s", "t", 9)
        assert model.ledger().down


def test_what_is_no_answer_of_its_dialect_is_a_fault(tmp_path: Path) -> None:
    broken = [faults.Fault(faults.Empty(), faults.always)]
    with asking(ECHO, tmp_path, faults=broken) as (model, _), pytest.raises(ModelFault):
        model.ask("s", "t", 9)


def chat(**choice: object) -> bytes:
    """An answer of the chat dialect without usage."""
    return json.dumps({"choices": [{"index": 0, "finish_reason": "stop", **choice}]}).encode()


def messages(*blocks: object, **more: object) -> bytes:
    return json.dumps({"type": "message", "role": "assistant", "content": blocks, **more}).encode()


TEXT = {"type": "text", "text": "yes"}


def answering(body: bytes, dialect: Dialect, folder: Path) -> Answer:
    """What becomes of an answer with this body."""
    with Endpoint(answer(body)) as endpoint:
        base = endpoint.url if dialect is Dialect.CHAT else endpoint.url.removesuffix("/v1")
        upstream = Upstream(base, "", routes(dialect), models=(MODEL,))
        with Relay(upstream, Patience(1)) as relay, Asked(relay, Quota(), folder / "exchange.jsonl") as model:
            return model.ask("s", "t", 3)


@pytest.mark.parametrize(
    ("dialect", "body", "text"),
    [
        (Dialect.CHAT, chat(message={"content": "yes"}), "yes"),
        (Dialect.CHAT, chat(message={"content": ""}), ""),
        (Dialect.CHAT, chat(message={"content": "half \ud800"}), "half ?"),
        (Dialect.ANTHROPIC, messages(TEXT, {"type": "thinking", "thinking": "hm"}, TEXT), "yesyes"),
    ],
)
def test_an_answer_without_usage_is_text_of_unknown_size(
    dialect: Dialect, body: bytes, text: str, tmp_path: Path
) -> None:
    assert answering(body, dialect, tmp_path) == Answer(text, None, None)


@pytest.mark.parametrize(
    ("dialect", "body", "why"),
    [
        (Dialect.CHAT, chat(message={"content": "no end"}, finish_reason="length"), "was cut at its limit"),
        (Dialect.ANTHROPIC, messages(TEXT, stop_reason="max_tokens"), "was cut at its limit"),
        (Dialect.CHAT, chat(message={"content": None}), "not of its dialect"),
        (Dialect.CHAT, b'{"choices": []}', "not of its dialect"),
        (Dialect.CHAT, b"[]", "not of its dialect"),
        (Dialect.CHAT, b"<html>", "not of its dialect"),
        (Dialect.CHAT, b"\xff", "not of its dialect"),
        (Dialect.ANTHROPIC, messages({"type": "tool_use", "id": "x"}), "not of its dialect"),
        (Dialect.ANTHROPIC, messages(), "not of its dialect"),
    ],
)
def test_what_is_no_whole_text_is_a_fault(dialect: Dialect, body: bytes, why: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match=why):
        answering(body, dialect, tmp_path)


def test_calls_from_many_threads_do_not_meet(tmp_path: Path) -> None:
    found: dict[int, str] = {}
    with asking(ECHO, tmp_path) as (model, _):
        threads = [
            threading.Thread(target=lambda n=n: found.update({n: model.ask("s", f"number {n}", 9).text}))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {n: f"s / number {n}" for n in range(8)}


def test_nobody_else_can_ask_and_nothing_is_left(tmp_path: Path) -> None:
    with asking(ECHO, tmp_path) as (model, _):
        folder = Path(model._folder.name)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()
    model.close()
    with pytest.raises(ModelFault, match="no whole answer"):
        model.ask("s", "t", 9)


def test_a_relay_must_name_its_model_and_speak_a_dialect_of_ours(tmp_path: Path) -> None:
    for named, dialect, message in (
        ((), Dialect.CHAT, r"judge\.name"),
        ((MODEL,), Dialect.RESPONSES, r"judge\.dialect: .* chat, anthropic, not in responses"),
    ):
        upstream = Upstream("http://127.0.0.1:9/v1", "", routes(dialect), models=named)
        with Relay(upstream, Patience(1)) as relay, pytest.raises(UsageFault, match=message):
            Asked(relay, Quota(), tmp_path / "x.jsonl")
    assert dialect_of(ModelConfig()) == Dialect.CHAT
    assert dialect_of(ModelConfig(dialect="anthropic")) == Dialect.ANTHROPIC


def test_a_model_that_fails_is_not_the_memorys_fault() -> None:
    def raising(error: Exception) -> Fault:
        def call() -> None:
            raise error

        with pytest.raises(Fault) as caught:
            ask(call)
        return caught.value

    assert raising(ModelFault("no answer")).boundary == Boundary.MODEL
    assert raising(MemoryFault("no server")).boundary == Boundary.MEMORY


def test_a_run_without_a_judge_says_nothing_of_one() -> None:
    plain = load(None, [])
    assert not [key for key in plain.semantic() if key.startswith(("judge", "model"))]
    judged = load(None, ["judge.name=m", "judge.base_url=http://127.0.0.1:1/v1", "judge.key_env=KEY"])
    assert judged.semantic()["judge.name"] == "m"
    assert "judge.key_env" not in judged.semantic()


def test_a_script_sees_one_call_at_a_time(tmp_path: Path) -> None:
    """Each call stands alone: nothing of an earlier one is sent."""
    seen: list[Seen] = []
    with asking(saying(lambda s: seen.append(s) or "x"), tmp_path) as (model, _):
        model.ask("a", "first", 9)
        model.ask("b", "second", 9)
    assert [(s.system, len(s.messages), s.last()) for s in seen] == [("a", 1, "first"), ("b", 1, "second")]
