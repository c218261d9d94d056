"""The program that offers a memory over MCP: whatever comes in, it answers by the rules of JSON-RPC and goes on."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from containers.relay import PORT
from harness.agents.inside import memory_server
from harness.agents.pull import SERVER, TARGET, Pull
from memory_probe.protocol import View


def server(*lines: bytes) -> list[Any]:
    """What the program says to these lines, run outside of a sandbox."""
    command = [sys.executable, "-I", "-S", memory_server.__file__]
    done = subprocess.run(command, input=b"".join(lines), capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def rpc(method: str, number: int | str | None = 1, /, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, **({} if number is None else {"id": number})}
    return json.dumps({**message, **({"params": params} if params else {})}).encode() + b"\n"


def test_the_program_and_the_harness_mean_the_same() -> None:
    assert (memory_server.PORT, memory_server.TARGET) == (PORT, TARGET)
    assert Path(memory_server.__file__).read_bytes() == SERVER
    longest = json.dumps({"query": "\U0001f600" * memory_server.QUERY}).encode()
    assert len(longest) <= Pull(lambda query: View(), dt.date(2026, 3, 9)).local().size


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        (None, "2025-11-25"),
        ([], "2025-11-25"),
    ],
)
def test_a_version_is_agreed_on(wanted: object, agreed: str) -> None:
    (said,) = server(rpc("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "c"}))
    assert (said["jsonrpc"], said["id"]) == ("2.0", 1)
    assert said["result"]["protocolVersion"] == agreed
    assert said["result"]["capabilities"] == {"tools": {"listChanged": False}}
    assert said["result"]["serverInfo"]["name"] == "memory"


def test_one_tool_is_offered() -> None:
    told, ping, listed = server(
        rpc("ping", "a"), rpc("notifications/initialized", None), rpc("ping", 7), rpc("tools/list")
    )
    assert (told, ping) == ({"jsonrpc": "2.0", "id": "a", "result": {}}, {"jsonrpc": "2.0", "id": 7, "result": {}})
    (tool,) = listed["result"]["tools"]
    assert tool["name"] == "search"
    assert tool["inputSchema"]["required"] == ["query"]
    assert tool["inputSchema"]["properties"]["query"]["type"] == "string"
    assert tool["annotations"]["readOnlyHint"] is True


ERRORS = [
    (b"hello\n", None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"\n', None, -32700),
    (b"\xff\xfe\n", None, -32700),
    (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}\n', None, -32700),
    (b"[" * 100_000 + b"\n", None, -32700),
    (b'{"jsonrpc": "2.0", "id": 1' + b"0" * 5000 + b', "method": "ping"}\n', None, -32700),
    (b"x" * (memory_server.LINE + 5) + b"\n", None, -32700),
    (b"7\n", None, -32600),
    (b"{}\n", None, -32600),
    (b"[]\n", None, -32600),
    (b"[" + b"1," * 200 + b"1]\n", None, -32600),
    (b'{"id": 3, "method": "ping"}\n', 3, -32600),
    (b'{"jsonrpc": "2.0", "id": 3}\n', 3, -32600),
    (b'{"jsonrpc": "2.0", "id": 3, "method": 4}\n', 3, -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}\n', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}\n', None, -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', None, -32600),
    (rpc("resources/list", 3), 3, -32601),
    (rpc("", 3), 3, -32601),
    (b'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": [1]}\n', 3, -32602),
    (rpc("tools/call", 3, name="remember", arguments={}), 3, -32602),
    (rpc("tools/call", 3), 3, -32602),
]


@pytest.mark.parametrize(("line", "name", "code"), ERRORS, ids=[str(n) for n in range(len(ERRORS))])
def test_what_is_no_request_is_answered_by_an_error(line: bytes, name: object, code: int) -> None:
    said, ping = server(line, rpc("ping", "after"))
    assert (said["id"], said["error"]["code"], "result" in said) == (name, code, False)
    assert isinstance(said["error"]["message"], str)
    assert ping["id"] == "after"


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b" \r\n",
        rpc("notifications/cancelled", None, requestId=1),
        rpc("no such thing", None),
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n',
        b'[{"jsonrpc": "2.0", "method": "a"}, {"jsonrpc": "2.0", "method": "b"}]\n',
    ],
)
def test_what_wants_no_answer_gets_none(line: bytes) -> None:
    assert [said["id"] for said in server(line, rpc("ping", "after"))] == ["after"]


def test_a_batch_is_answered_as_one() -> None:
    one, none, other = json.loads(rpc("ping", 1)), json.loads(rpc("ping", None)), 5
    (said,) = server(json.dumps([one, none, other]).encode())  # and its line has no end
    assert [(part["id"], "error" in part) for part in said] == [(1, False), (None, True)]


@pytest.mark.parametrize("given", [{}, {"query": 5}, {"query": " \n"}, {"query": None}, [], "mark", {"q": "mark"}])
def test_a_search_without_a_question_is_a_mistake_that_the_model_sees(given: object) -> None:
    (said,) = server(rpc("tools/call", name="search", arguments=given))
    assert said["result"]["isError"] is True
    assert said["result"]["content"] == [{"type": "text", "text": "the search needs a query: a text"}]


@pytest.fixture(scope="module")
def running() -> Iterator[Callable[[bytes], list[Any]]]:
    """Says a line to one program, and gives what it says up to the answer of a ping that follows it."""
    command = [sys.executable, "-I", "-S", memory_server.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        count = 0

        def say(line: bytes) -> list[Any]:
            nonlocal count
            count += 1
            program.stdin.write(line + b"\n" + rpc("ping", f"ping {count}"))
            program.stdin.flush()
            found = []
            while (said := json.loads(program.stdout.readline())) != {
                "jsonrpc": "2.0",
                "id": f"ping {count}",
                "result": {},
            }:
                found.append(said)
            return found

        yield say
        program.stdin.close()
        assert program.wait(20) == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from([*memory_server.METHODS, "notifications/initialized", "x", ""])
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": JSON,
        "method": METHODS | JSON,
        "params": JSON | st.fixed_dictionaries({"name": st.just("search") | JSON, "arguments": JSON}),
    },
)
LINES = (
    st.binary(max_size=200).map(lambda raw: raw.replace(b"\n", b""))
    | JSON.map(lambda value: json.dumps(value).encode())
    | (MESSAGES | st.lists(MESSAGES, max_size=4)).map(lambda value: json.dumps(value).encode())
)


@given(line=LINES)
@settings(max_examples=300, deadline=None)
def test_whatever_comes_in_the_program_goes_on(running: Callable[[bytes], list[Any]], line: bytes) -> None:
    said = running(line)
    assert len(said) <= 1
    try:
        message = json.loads(line.decode(), parse_constant=no_json)
    except ValueError:
        assert [one["error"]["code"] for one in said] == ([-32700] if line.strip() else [])
        return
    for part in said if said and isinstance(said[0], dict) else (said[0] if said else []):
        assert part["jsonrpc"] == "2.0"
        assert ("result" in part) != ("error" in part)
    if isinstance(message, dict) and isinstance(message.get("id"), str):  # a request by its id, whatever else it is
        assert [one["id"] for one in said] == ([] if _answers(message) else [message["id"]])


def no_json(word: str) -> None:
    raise ValueError(word)


def _answers(message: dict[str, Any]) -> bool:
    return message.get("method") is None and ("result" in message or "error" in message)
