"""Targets that the harness answers itself: beside the model's, counted apart, and over when the session is."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from containers.relay import Local, Quota, Relay, Unanswered
from containers.sandbox import Sandbox, Spec

from .relay_kit import CHAT, KEY, PROGRAM, Handler, Make, answer, said, shown

TARGET = "/memory/search"


class Told:
    """Answers with what it was asked, in capitals, and keeps it."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def __call__(self, body: bytes) -> bytes:
        self.asked.append(body)
        return body.upper()


def test_it_is_answered_here_and_is_no_call_of_the_model(make_relay: Make) -> None:
    bench, told = make_relay(answer(said("hi", 7, 2))), Told()
    session = bench.open(quota=Quota(calls=1), local=[Local(TARGET, told)])
    code = f"show(*ask({{'query': 'grün'}}, path={TARGET!r})); show(ask()[0]); show(ask(path={TARGET!r})[0])"
    ((status, headers, body), *rest) = shown(bench.run(code, session))
    assert (status, body) == (200, '{"QUERY": "GR\\U00FCN"}')
    assert (headers["content-type"], headers["server"]) == ("text/plain; charset=utf-8", "relay")
    assert rest == [[200], [200]]  # also when no call of the model is left
    assert len(bench.model.seen) == 1
    assert told.asked[0] == b'{"query": "gr\\u00fcn"}'
    ledger = session.ledger()
    assert (ledger.calls, ledger.pulled, len(ledger.usage), ledger.refusals, ledger.fault) == (1, 2, 1, 0, "")
    assert ledger.tokens is not None
    assert (ledger.tokens.input, ledger.tokens.output) == (7, 2)
    row = bench.rows[0]
    assert (row["target"], row["status"], row["end"], row["attempts"]) == (TARGET, 200, "whole", [])
    assert (row["tokens"], row["model"], row["dialect"]) == (None, "", None)
    assert (row["request"], row["response"]) == (told.asked[0].decode(), body)


def test_what_is_too_large_or_too_much_is_refused(make_relay: Make) -> None:
    bench, told = make_relay(answer(said())), Told()
    session = bench.open(local=[Local(TARGET, told, calls=2, size=1000)])
    code = f"""
for size in (1 << 20, 1001, 1000):
    for headers in ({{}}, {{"Transfer-Encoding": "chunked"}}):
        link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
        body = b"a" * size
        link.request("POST", {TARGET!r}, [body] if headers else body, headers, encode_chunked=bool(headers))
        show(size, link.getresponse().status)
show(*ask(path={TARGET!r})[::2])
"""
    *sizes, (status, body) = shown(bench.run(code, session))
    assert sizes == [[1 << 20, 413], [1 << 20, 413], [1001, 413], [1001, 413], [1000, 200], [1000, 200]]
    assert (status, json.loads(body)["error"]["message"]) == (429, "this is asked at most 2 times in a session")
    assert list(map(len, told.asked)) == [1000, 1000]
    ledger = session.ledger()
    assert (ledger.pulled, ledger.refusals, ledger.hit, ledger.calls) == (2, 5, (), 0)
    assert [one.status for one in ledger.refused] == [413, 413, 413, 413, 429]
    assert [row["request"] for row in bench.rows] == ["", "", "", "", "a" * 1000, "a" * 1000, ""]


def test_the_rules_of_the_model_s_targets_hold_for_it(make_relay: Make) -> None:
    bench, told = make_relay(answer(said())), Told()
    session = bench.open(local=[Local(TARGET, told)])
    code = f"""
show(ask(path={TARGET!r}, method="GET")[0], ask(path={TARGET!r} + "?x=1")[0], ask(path={TARGET!r} + "/")[0])
show(ask(path={TARGET!r}, headers={{"Host": "memory"}})[0], ask(path={TARGET!r}, headers={{"Upgrade": "x"}})[0])
"""
    assert shown(bench.run(code, session)) == [[405, 404, 404], [403, 403]]
    assert told.asked == []
    assert session.ledger().pulled == 0
    plain = bench.open()
    assert shown(bench.run(f"show(ask(path={TARGET!r})[0])", plain)) == [[404]]  # of another session it is none


def test_what_it_does_not_answer_and_what_breaks(make_relay: Make) -> None:
    def answers(body: bytes) -> bytes:
        if b"no" in body:
            raise Unanswered("that is no question")
        raise RuntimeError(f"broken: {KEY}")

    bench = make_relay(answer(said()))
    session = bench.open(local=[Local(TARGET, answers)])
    first = f"show(*ask({{'query': 'no'}}, path={TARGET!r})[::2])"
    ((status, body),) = shown(bench.run(first, session))
    assert (status, json.loads(body)["error"]["message"]) == (422, "that is no question")
    assert (session.ledger().fault, session.ledger().pulled) == ("", 1)
    session = bench.open(local=[Local(TARGET, answers)])
    assert shown(bench.run(f"show(ask({{'query': 'x'}}, path={TARGET!r})[0])", session)) == [[500]]
    assert session.ledger().fault == f"RuntimeError: broken: {'*' * len(KEY)}"


def test_a_slow_answer_holds_up_nobody_else(make_relay: Make) -> None:
    """The memory waits until the model was called, by the same agent at the same time."""
    called = threading.Event()

    def model(to: Handler) -> None:
        called.set()
        answer(said())(to)

    def slow(body: bytes) -> bytes:
        assert called.wait(20)
        return b"at last"

    bench = make_relay(model)
    session = bench.open(local=[Local(TARGET, slow)])
    code = f"""
got = []
thread = threading.Thread(target=lambda: got.append(ask(path={TARGET!r})[2]))
thread.start()
show(ask()[0])
thread.join()
show(got)
"""
    assert shown(bench.run(code, session)) == [[200], [["at last"]]]


def test_a_session_makes_one_answer_at_a_time(make_relay: Make) -> None:
    at_work, most = 0, 0

    def answers(body: bytes) -> bytes:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        time.sleep(0.01)
        at_work -= 1
        return body

    bench = make_relay(answer(said()))
    session = bench.open(local=[Local(TARGET, answers)])
    code = f"""
threads = [threading.Thread(target=ask, kwargs={{"path": {TARGET!r}}}) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    assert shown(bench.run(code, session)) == []
    assert (most, session.ledger().pulled) == (1, 12)


def test_nothing_is_being_answered_when_the_session_is_over(make_relay: Make) -> None:
    """The agent asks twice and ends as soon as the first answer is being made."""
    begun, finished, first = list[bytes](), list[bytes](), threading.Event()

    def answers(body: bytes) -> bytes:
        begun.append(body)
        first.set()
        time.sleep(0.3)
        finished.append(body)
        return body

    def model(to: Handler) -> None:
        assert first.wait(20)
        answer(said())(to)

    bench = make_relay(model)
    session = bench.open(local=[Local(TARGET, answers)])
    code = f"""
import os
links = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(2)]
for link in links:
    link.sendall(b"POST {TARGET} HTTP/1.1\\r\\nHost: 127.0.0.1:4141\\r\\nContent-Length: 1\\r\\n\\r\\nx")
ask()
os._exit(0)
"""
    assert bench.run(code, session).exit == 0
    assert begun == finished != []
    assert "relay-local" not in " ".join(thread.name for thread in threading.enumerate())
    assert bench.rows[0]["end"] == "left"
    assert bench.rows[0]["request"] == "x"


def test_without_a_model_behind_it(bubblewrap_box: Sandbox, tmp_path: Path) -> None:
    told = Told()
    with Relay(None) as relay:
        session = relay.open(Quota(), tmp_path / "one.jsonl", local=[Local(TARGET, told)])
        code = f"show(ask(path={TARGET!r})[0], ask(path={CHAT!r})[0])"
        result = bubblewrap_box.run(Spec(("python3", "-c", PROGRAM + code), cwd="/tmp", endpoint=session))
        ledger = session.ledger()
    assert shown(result) == [[200, 404]]
    assert (ledger.pulled, ledger.calls, ledger.refusals, ledger.fault) == (1, 0, 1, "")


@pytest.mark.parametrize("targets", [["memory"], [CHAT], [TARGET, TARGET]])
def test_a_target_that_cannot_be_one(make_relay: Make, targets: list[str]) -> None:
    bench = make_relay(answer(said()))
    with pytest.raises(ValueError, match="a target that is answered here"):
        bench.open(local=[Local(target, Told()) for target in targets])
    assert not (bench.folder / "1.jsonl").exists()
