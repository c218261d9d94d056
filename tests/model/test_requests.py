"""What requests are read as, and which are refused."""

from __future__ import annotations

import json

import pytest

from .client import Refused, Talk, User, ask, post, request
from .reading import Model
from .script import Function, Message, Seen, Steps, Turn
from .server import ModelServer

PROMPT = Talk((User("Mend the label."),))

SYSTEMS = [
    ("chat", {"messages": [{"role": "system", "content": "A."}, {"role": "user", "content": "B."}]}),
    ("chat", {"messages": [{"role": "developer", "content": "A."}, {"role": "user", "content": "B."}]}),
    ("responses", {"input": [{"role": "developer", "content": "A."}, {"role": "user", "content": "B."}]}),
    ("responses", {"instructions": "A.", "input": "B."}),
    ("anthropic", {"system": "A.", "messages": [{"role": "user", "content": "B."}]}),
    ("anthropic", {"messages": [{"role": "user", "content": "B."}, {"role": "system", "content": "A."}]}),
    ("gemini", {"system_instruction": {"parts": [{"text": "A."}]}, "contents": [{"parts": [{"text": "B."}]}]}),
]


@pytest.mark.parametrize(("dialect", "body"), SYSTEMS)
def test_the_system_text_wherever_it_stands(dialect: str, body: dict[str, object]) -> None:
    with ModelServer(Steps(())) as server:
        target, whole = request(dialect, Talk((User("B."),), more=body))
        if dialect == "gemini":
            whole.pop("systemInstruction", None)
        assert post(server.url, target, whole)[0] == 200
        seen = server.log.asked()[0].seen
    assert seen is not None
    assert (seen.system, seen.messages) == ("A.", (Message("user", "B."),))


BAD = [
    ("/v1/chat/completions", {"model": "m"}, "messages"),
    ("/v1/chat/completions", {"messages": []}, "model"),
    ("/v1/chat/completions", {"model": "m", "messages": [{"role": "narrator", "content": ""}]}, "narrator"),
    ("/v1/responses", {"model": "m"}, "input"),
    ("/v1/messages", {"model": "m", "messages": []}, "max_tokens"),
    ("/v1/messages", {"model": "m", "max_tokens": 1, "messages": [{"role": "tool", "content": ""}]}, "tool"),
    ("/v1beta/models/m:generateContent", {}, "contents"),
    ("/v1/chat/completions", [], "object"),
    ("/v1/chat/completions", b"{", "JSON"),
    ("/v1/messages", b"\xff", "JSON"),
]


@pytest.mark.parametrize(("target", "body", "word"), BAD)
def test_what_the_real_endpoint_refuses_is_refused(target: str, body: object, word: str) -> None:
    with ModelServer(Steps(())) as server:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        status, _, answer = post(server.url, target, data)
        assert status == 400
        assert word in json.loads(answer)["error"]["message"]


@pytest.mark.parametrize(("length", "status"), [("one", 400), ("-1", 413), ("99999999999", 413)])
def test_a_length_that_is_none(length: str, status: int) -> None:
    with ModelServer(Steps(())) as server:
        assert post(server.url, "/v1/messages", b"", {"content-length": length})[0] == status
        assert ask(server.url, "anthropic", PROMPT).model == Model("Done.")


def test_other_paths_and_methods_are_not_answered() -> None:
    with ModelServer(Steps(())) as server:
        for target in ("/", "/v1/files", "/v1/chat/completions/x", "/v2/messages", "/v1beta/models/m:embedContent"):
            assert post(server.url, target, {})[0] == 404, target
        assert server.log.asked() == ()


def test_a_failing_script_fails_the_test() -> None:
    def broken(seen: Seen) -> Turn:
        raise LookupError("no such story")

    server = ModelServer(Function(broken)).start()
    with pytest.raises(Refused) as refused:
        ask(server.url, "chat", PROMPT)
    assert refused.value.status == 500
    with pytest.raises(AssertionError, match="no such story"):
        server.__exit__(None, None, None)
