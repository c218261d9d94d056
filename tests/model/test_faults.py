"""Each fault happens to the requests that it is for, in the way it says, and leaves the server able to go on."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from .client import BASH, DIALECTS, Refused, Result, Talk, User, ask, post, request
from .faults import (
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
    holding,
    until,
)
from .reading import Model
from .script import Say, Shell, Steps
from .server import ModelServer

TALK = Talk((User("Mend the label."),), system="You are careful.", tools={"bash": BASH})
SCRIPT = Steps((Shell("ls -l /"),))
ALL = pytest.mark.parametrize("dialect", DIALECTS)
BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def raw(server: ModelServer, dialect: str, stream: bool) -> tuple[int, dict[str, str], bytes]:
    return post(server.url, *request(dialect, TALK, stream))


ERRORS = {
    "chat": lambda body: (body["error"]["type"], body["error"]["code"]),
    "responses": lambda body: (body["error"]["type"], body["error"]["code"]),
    "anthropic": lambda body: (body["type"], body["error"]["type"]),
    "gemini": lambda body: (body["error"]["code"], body["error"]["status"]),
}
STATUSES = [
    (429, "chat", ("rate_limit_error", "rate_limit_exceeded")),
    (429, "responses", ("rate_limit_error", "rate_limit_exceeded")),
    (429, "anthropic", ("error", "rate_limit_error")),
    (429, "gemini", (429, "RESOURCE_EXHAUSTED")),
    (500, "chat", ("server_error", None)),
    (500, "anthropic", ("error", "api_error")),
    (529, "anthropic", ("error", "overloaded_error")),
    (503, "gemini", (503, "UNAVAILABLE")),
]


@pytest.mark.parametrize(("code", "dialect", "form"), STATUSES)
def test_a_status_in_the_form_of_the_dialect_and_then_an_answer(code: int, dialect: str, form: object) -> None:
    with ModelServer(SCRIPT, faults=[Fault(Status(code, retry_after=7), at(1))]) as server:
        with pytest.raises(Refused) as refused:
            ask(server.url, dialect, TALK)
        assert (refused.value.status, refused.value.headers["retry-after"]) == (code, "7")
        assert ERRORS[dialect](json.loads(refused.value.body)) == form
        assert ask(server.url, dialect, TALK).model.call
        entries = server.log.asked()
    assert [(entry.asked, entry.fault, entry.status) for entry in entries] == [(1, "Status", code), (2, "", 200)]


def test_a_status_without_a_time_to_wait() -> None:
    with ModelServer(SCRIPT, faults=[Fault(Status(503), until(2))]) as server:
        status, headers, _ = raw(server, "chat", False)
        assert (status, headers.get("retry-after")) == (503, None)
        assert [raw(server, "chat", False)[0] for _ in range(2)] == [503, 200]


@ALL
@BOTH
@pytest.mark.parametrize("after", [0, 1, 150])
def test_a_cut_body_has_so_many_bytes_and_no_end(dialect: str, stream: bool, after: int) -> None:
    with ModelServer(SCRIPT, faults=[Fault(Cut(after), at(2))]) as server:
        whole = raw(server, dialect, stream)[2]
        with pytest.raises(http.client.IncompleteRead) as cut:
            raw(server, dialect, stream)
        assert cut.value.partial == whole[:after]
        assert raw(server, dialect, stream)[2] == whole


@ALL
@BOTH
def test_slow_bytes_are_the_same_bytes(dialect: str, stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(Slow(size=200, seconds=0.001), at(2))]) as server:
        assert raw(server, dialect, stream)[2] == raw(server, dialect, stream)[2]


@ALL
@BOTH
def test_bad_json_comes_with_a_whole_body(dialect: str, stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(BadJson(), at(1))]) as server:
        with pytest.raises(json.JSONDecodeError):
            ask(server.url, dialect, Talk((User("Say a few words."),)), stream)
        assert ask(server.url, dialect, TALK, stream).model.call


@ALL
@BOTH
def test_nothing_at_all(dialect: str, stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(Empty(), at(1))]) as server:
        status, headers, data = raw(server, dialect, stream)
        assert (status, headers["content-length"], data) == (200, "0", b"")
        assert ask(server.url, dialect, TALK, stream).model.call


@BOTH
def test_a_page_in_the_place_of_an_answer(stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(WrongType(), always)]) as server:
        status, headers, data = raw(server, "anthropic", stream)
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert data.startswith(b"<!doctype html>")


def test_a_reset_before_the_status_line() -> None:
    with ModelServer(SCRIPT, faults=[Fault(Reset(), at(1))]) as server:
        with pytest.raises(ConnectionResetError):
            raw(server, "chat", False)
        assert raw(server, "chat", False)[0] == 200
        assert [(entry.fault, entry.status) for entry in server.log.asked()] == [("Reset", None), ("", 200)]


@ALL
@BOTH
def test_a_tool_that_was_not_offered(dialect: str, stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(UnknownTool(), at(1))]) as server:
        got = ask(server.url, dialect, TALK, stream)
        assert got.model.call is not None
        assert got.model.call[1:] == ("no_such_tool", "{}")
        assert got.usage == (6, 0, 0, 2)
        # the agent says so, and the script goes on with the turn that was not said
        items = (*TALK.items, got.model, Result(got.model.call[0], got.model.call[1], "no such tool"))
        again = ask(server.url, dialect, Talk(items, TALK.system, TALK.tools), stream)
        assert again.model.call is not None
        assert json.loads(again.model.call[2]) == {"command": "ls -l /"}


@ALL
def test_a_spoiled_turn_is_said_again_also_if_the_agent_mends_it(dialect: str) -> None:
    with ModelServer(SCRIPT, faults=[Fault(BrokenArguments(), at(1))]) as server:
        got = ask(server.url, dialect, TALK)
        assert got.model.call is not None
        mended = Model("", (*got.model.call[:2], '{"raw": "mended"}'))
        items = (*TALK.items, mended, Result(*got.model.call[:2], "not valid"))
        again = ask(server.url, dialect, Talk(items, TALK.system, TALK.tools))
        assert again.model.call is not None
        assert json.loads(again.model.call[2]) == {"command": "ls -l /"}
        assert again.model.call[0] != got.model.call[0]
        # the same request once more is answered as it would have been, and that is a turn
        retried = ask(server.url, dialect, TALK)
        assert retried.model.call is not None
        items = (*TALK.items, retried.model, Result(*retried.model.call[:2], "bin"))
        assert ask(server.url, dialect, Talk(items, TALK.system, TALK.tools)).model == Model("Done.")


@pytest.mark.parametrize("dialect", ["chat", "responses"])
@BOTH
def test_arguments_that_end_in_the_middle(dialect: str, stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(BrokenArguments(), at(1))]) as server:
        got = ask(server.url, dialect, TALK, stream)
    assert got.model.call is not None
    assert got.model.call[1:] == ("bash", '{"command":')


@pytest.mark.parametrize(("dialect", "stream"), [("anthropic", False), ("gemini", False), ("gemini", True)])
def test_where_arguments_are_an_object_they_are_a_wrong_one(dialect: str, stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(BrokenArguments(), at(1))]) as server:
        got = ask(server.url, dialect, TALK, stream)
    assert got.model.call is not None
    assert json.loads(got.model.call[2]) == {"malformed": '{"command":'}


def test_a_stream_of_anthropic_has_them_as_text() -> None:
    with ModelServer(SCRIPT, faults=[Fault(BrokenArguments(), at(1))]) as server, pytest.raises(json.JSONDecodeError):
        ask(server.url, "anthropic", TALK, stream=True)


@ALL
def test_a_loop_never_ends_by_itself(dialect: str) -> None:
    with ModelServer(SCRIPT, faults=[Fault(Loop("sleep 0"), always)]) as server:
        talk = TALK
        for _ in range(5):
            got = ask(server.url, dialect, talk)
            assert got.model.call is not None
            assert json.loads(got.model.call[2]) == {"command": "sleep 0"}
            items = (*talk.items, got.model, Result(got.model.call[0], "bash", ""))
            talk = Talk(items, TALK.system, TALK.tools)


@ALL
@BOTH
def test_ten_megabytes(dialect: str, stream: bool) -> None:
    with ModelServer(SCRIPT, faults=[Fault(Huge(10_000_000), at(1))]) as server:
        got = ask(server.url, dialect, TALK, stream)
    assert len(got.model.text) == 10_000_000
    assert got.usage == (6, 0, 0, 1_250_000)


def test_a_fault_for_what_a_request_holds() -> None:
    with ModelServer(SCRIPT, faults=[Fault(Status(500), holding("other words"))]) as server:
        assert ask(server.url, "chat", TALK).model.call
        with pytest.raises(Refused):
            ask(server.url, "chat", Talk((User("Some other words."),)))


def test_many_requests_over_one_connection_also_after_an_error() -> None:
    with ModelServer(SCRIPT, faults=[Fault(Status(500), at(2))]) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
        found = []
        for stream in (True, False, False, True):
            target, body = request("responses", TALK, stream)
            connection.request("POST", target, json.dumps(body))
            response = connection.getresponse()
            found.append((response.status, len(response.read()) > 0))
        connection.close()
    assert found == [(200, True), (500, True), (200, True), (200, True)]


def slow_client(server: ModelServer) -> None:
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        raw(server, "chat", True)


def idle_client(server: ModelServer) -> None:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    connection.request("GET", "/v1/models")
    assert connection.getresponse().read()
    assert connection.sock is not None
    assert connection.sock.recv(1) == b""  # until the server ends it


@pytest.mark.parametrize("client", [slow_client, idle_client])
def test_closing_ends_every_connection_and_thread(client: Callable[[ModelServer], None]) -> None:
    before = set(threading.enumerate())
    server = ModelServer(SCRIPT, faults=[Fault(Slow(size=1, seconds=60), always)]).start()
    thread = threading.Thread(target=client, args=(server,))
    thread.start()
    while not server.log.entries():
        thread.join(0.01)
    server.close()
    thread.join(30)
    assert set(threading.enumerate()) <= before
    with pytest.raises(ConnectionRefusedError):
        raw(server, "chat", False)


def test_a_client_that_hangs_up_is_on_record_and_no_error() -> None:
    with ModelServer(SCRIPT, faults=[Fault(Huge(20_000_000), at(1))]) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
        target, body = request("chat", TALK)
        connection.request("POST", target, json.dumps(body))
        connection.getresponse().read(10)
        connection.close()
        while not server.log.asked()[0].left:
            threading.Event().wait(0.01)
        assert ask(server.url, "chat", TALK).model.call


def test_faults_for_several_numbers() -> None:
    with ModelServer(Steps((Say("One."),)), faults=[Fault(Status(500), at(2, 3))]) as server:
        assert [raw(server, "chat", False)[0] for _ in range(4)] == [200, 500, 500, 200]
