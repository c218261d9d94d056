"""Sessions of the relay from beginning to end: nothing of one is left, however it ended."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from containers import relay as relay_module
from containers.relay import Dialect, Quota, Relay, Upstream, routes
from containers.sandbox import WORK, Limits, Mount, Sandbox, SandboxError, Spec

from .bubblewrap_kit import soon, tar
from .relay_kit import CHAT, EAGER, KEY, PROGRAM, Handler, Make, Model, answer, chat_upstream, said, shown


def sockets() -> int:
    """Open sockets of this process."""
    found = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            found += stat.S_ISSOCK(os.stat(int(name)).st_mode)
        except OSError:
            pass
    return found


def spec(code: str, endpoint: object, wall: float = 30.0) -> Spec:
    return Spec(("python3", "-c", PROGRAM + code), cwd="/tmp", limits=Limits(wall=wall), endpoint=endpoint)  # type: ignore[arg-type]


class TestEnds:
    def test_a_killed_session_leaves_nothing(self, make_relay: Make) -> None:
        """A conversation is closed while two calls are at work: one waits for an answer, one reads a stream."""
        over, streaming = threading.Event(), threading.Event()

        def never(to: Handler) -> None:
            over.wait(20)

        def endless(to: Handler) -> None:
            to.send_response(200)
            to.send_header("Content-Type", "text/event-stream")
            to.send_header("Transfer-Encoding", "chunked")
            to.end_headers()
            while not over.is_set():
                to.wfile.write(b"9\r\ndata: 1\n\n\r\n")
                streaming.set()
                over.wait(0.01)

        bench = make_relay(answer(said()), never, endless)
        assert shown(bench.run("show(ask()[0])")) == [[200]]  # what is made once is made
        assert soon(lambda: bench.model.open == 1)
        before, threads = sockets(), threading.active_count()
        session = bench.open()
        code = """
for _ in range(2): threading.Thread(target=ask).start()
print("ready", flush=True); time.sleep(60)
"""
        channel = bench.box.talk(spec(code, session))
        assert channel.receive(6, 20) == b"ready\n"
        assert streaming.wait(20)
        assert soon(lambda: len(bench.model.seen) == 3)
        channel.close()
        ledger = session.ledger()
        assert (ledger.calls, ledger.tokens) == (2, None)
        assert session.released
        assert soon(lambda: sockets() <= before)  # the kept connection of the first call may be gone or not
        over.set()
        assert soon(lambda: bench.model.open <= 1)
        assert soon(lambda: threading.active_count() <= threads)
        rows = [json.loads(line) for line in (bench.folder / "2.jsonl").read_text().splitlines()]
        assert [(row["number"], row["end"]) for row in rows] == [(1, "left"), (2, "left")]

    def test_a_closed_relay_leaves_nothing(self, bubblewrap_box: Sandbox, tmp_path: Path) -> None:
        with Model(answer(said())) as model:
            before, threads = sockets(), threading.active_count()
            with Relay(chat_upstream(model), EAGER) as relay:
                session = relay.open(Quota(), tmp_path / "a")
                assert shown(bubblewrap_box.run(spec("show(ask()[0])", session))) == [[200]]
                untaken = relay.open(Quota(), tmp_path / "b")
            assert soon(lambda: (sockets(), threading.active_count()) == (before, threads))
            assert untaken.released
            assert session.ledger().calls == 1
            with pytest.raises(SandboxError, match="closed"):
                relay.open(Quota(), tmp_path / "c")
            relay.close()

    def test_what_outlives_the_command_is_dead_before_the_session_is_over(self, make_relay: Make) -> None:
        bench = make_relay(answer(said()))
        session = bench.open()
        code = """
import os
if os.fork() == 0:
    os.setsid()
    while True: ask()
print(ask()[0])
"""
        bench.run(code, session)
        calls = session.ledger().calls
        assert calls >= 1
        assert len(bench.rows) == calls

    def test_a_sandbox_that_cannot_be_set_up(self, make_relay: Make) -> None:
        """The listener was handed over and is taken back."""
        bench = make_relay(answer(said()))
        session, before = bench.open(), sockets()
        big = Mount(tar({"big": b"x" * 200_000}), writable=True)
        with pytest.raises(SandboxError, match="does not fit"):
            bench.box.run(Spec(("true",), mounts={WORK: big}, limits=Limits(disk=100_000), endpoint=session))
        assert session.released
        assert sockets() <= before
        assert shown(bench.run("show(ask()[0])")) == [[200]]

    def test_a_session_is_for_one_sandbox(self, make_relay: Make) -> None:
        bench = make_relay(answer(said()))
        session = bench.open()
        assert shown(bench.run("show(ask()[0])", session)) == [[200]]
        with pytest.raises(ValueError, match="one sandbox"):
            bench.box.run(spec("ask()", session))

    def test_ports_that_are_none(self, make_relay: Make) -> None:
        bench = make_relay(answer(said()))
        with Relay(bench.relay.upstream, port=0) as relay:
            session = relay.open(Quota(), bench.folder / "x")
            with pytest.raises(ValueError, match="port"):
                bench.box.run(spec("ask()", session))

    def test_the_usual_port(self, bubblewrap_box: Sandbox, tmp_path: Path) -> None:
        """The name of the server has no port then."""
        with Model(answer(said())) as model, Relay(chat_upstream(model), port=80) as relay:
            session = relay.open(Quota(), tmp_path / "a")
            assert shown(bubblewrap_box.run(spec("PORT = 80; show(ask()[0])", session))) == [[200]]


class TestRecord:
    def test_lines_are_whole_and_private(self, make_relay: Make) -> None:
        bench = make_relay(answer(said("hé")))
        bench.run("ask({'model': 'm', 'text': 'grüße\\n'}); ask(path='/x')")
        path = bench.folder / "1.jsonl"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        first, second = bench.rows
        assert json.loads(first["request"]) == {"model": "m", "text": "grüße\n"}
        assert first["response"] == said("hé").decode()
        assert first["tokens"] == {"input": 7, "output": 2, "cached": 0, "written": 0}
        assert (first["number"], first["status"], first["dialect"], first["end"]) == (1, 200, "chat", "whole")
        assert (second["target"], second["status"], second["end"], second["request"]) == ("/x", 404, "refused", "")
        calls = bench.folder / "1.calls"
        assert stat.S_IMODE(calls.stat().st_mode) == 0o600
        assert [json.loads(line) for line in calls.read_text().splitlines()] == [{"number": 1, "model": "m"}]
        assert sorted(os.listdir(bench.folder)) == ["1.calls", "1.jsonl"]  # nothing else was left there

    def test_a_file_that_is_there_is_not_written_over(self, make_relay: Make) -> None:
        bench = make_relay(answer(said()))
        (bench.folder / "old").write_text("mine")
        with pytest.raises(SandboxError, match="transcript"):
            bench.relay.open(Quota(), bench.folder / "old")
        assert (bench.folder / "old").read_text() == "mine"


def test_many_sessions_through_one_relay(tmp_path: Path) -> None:
    """Sixty-four at once, on listeners of this process; each ledger has its own two calls."""
    with Model(answer(said(prompt=3, completion=1))) as model, Relay(chat_upstream(model), EAGER) as relay:
        sessions = [relay.open(Quota(calls=2), tmp_path / f"{n}") for n in range(64)]
        ports = []
        for session in sessions:
            listener = socket.create_server(("127.0.0.1", 0))
            ports.append(listener.getsockname()[1])
            session.take(listener)

        def call(port: int) -> list[int]:
            link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            found = []
            for _ in range(3):
                link.request("POST", CHAT, b'{"model":"m"}', {"Host": f"127.0.0.1:{relay.port}"})
                got = link.getresponse()
                got.read()
                found.append(got.status)
            link.close()
            return found

        with ThreadPoolExecutor(64) as pool:
            assert list(pool.map(call, ports)) == [[200, 200, 429]] * 64
        assert len(model.seen) == 128
        assert {(s.ledger().calls, s.ledger().hit) for s in sessions} == {(2, ("calls",))}


class TestSettings:
    @pytest.mark.parametrize(
        ("url", "key"),
        [
            ("ftp://x/v1", KEY),
            ("https://", KEY),
            ("https://u:p@x/v1", KEY),
            ("https://x/v1?a=b", KEY),
            ("x", KEY),
            ("https://x/v1", "short"),
            ("https://x/v1", "line\nfeed-in-key"),
        ],
    )
    def test_an_endpoint_that_cannot_be(self, url: str, key: str) -> None:
        with pytest.raises(ValueError) as caught:
            Upstream(url, key, routes(Dialect.CHAT))
        assert key not in str(caught.value)

    def test_where_the_key_goes(self) -> None:
        made = {d: Upstream("http://x", KEY, routes(d, "g")).auth(d) for d in Dialect}
        assert made[Dialect.CHAT] == made[Dialect.RESPONSES] == {"Authorization": f"Bearer {KEY}"}
        assert made[Dialect.ANTHROPIC] == {"x-api-key": KEY}
        assert made[Dialect.GEMINI] == {"x-goog-api-key": KEY}
        for name, value in (("api-key", KEY), ("Authorization", f"Bearer {KEY}")):
            upstream = Upstream("http://x", KEY, routes(Dialect.ANTHROPIC), key_header=name)
            assert upstream.auth(Dialect.ANTHROPIC) == {name: value}
        assert Upstream("http://x", "", routes(Dialect.CHAT)).auth(Dialect.CHAT) == {}

    def test_a_gemini_model_is_no_path(self) -> None:
        for name in ("", "a/b", "a:b", "a?b", "a%2fb", "a b"):
            with pytest.raises(ValueError, match="Gemini"):
                routes(Dialect.GEMINI, name)
        assert routes(Dialect.GEMINI, "gemini-2.5-pro")[0].target == "/v1beta/models/gemini-2.5-pro:generateContent"

    def test_without_the_library_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert relay_module.check() is None
        monkeypatch.setitem(sys.modules, "aiohttp", None)
        for name in ("containers.relay_forward", "containers.relay_exchange", "containers.relay_session"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        with pytest.raises(SandboxError, match=r"dreambench-swe\[agents\]"):
            Relay(Upstream("http://x/v1", "", routes(Dialect.CHAT)))


@pytest.mark.parametrize(
    ("dialect", "target", "events", "counted"),
    [
        (
            Dialect.RESPONSES,
            "/v1/responses",
            [{"type": "response.completed", "response": {"usage": {"input_tokens": 7, "output_tokens": 2}}}],
            True,
        ),
        (
            Dialect.RESPONSES,
            "/v1/responses",
            [{"type": "response.created", "response": {"usage": {"input_tokens": 7, "output_tokens": 0}}}],
            False,
        ),
        # usage may be told as it grows: only the end says that it was all
        (Dialect.CHAT, CHAT, [{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}], False),
    ],
    ids=["the end was heard", "the beginning was heard", "who knows whether the end was heard"],
)
def test_a_program_that_hangs_up_after_the_last_word_has_its_tokens_counted(
    dialect: Dialect, target: str, events: list[dict[str, object]], counted: bool, tmp_path: Path
) -> None:
    over = threading.Event()

    def told(to: Handler) -> None:
        to.send_response(200)
        to.send_header("Content-Type", "text/event-stream")
        to.send_header("Transfer-Encoding", "chunked")
        to.end_headers()
        for event in events:
            piece = b"data: " + json.dumps(event).encode() + b"\n\n"
            to.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        to.wfile.flush()
        over.wait(20)

    with Model(told) as model, Relay(Upstream(model.url, KEY, routes(dialect)), EAGER) as relay:
        session = relay.open(Quota(), tmp_path / "1.jsonl")
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        session.take(listener)
        with socket.create_connection(("127.0.0.1", port)) as link:
            body = b'{"model": "m", "stream": true}'
            head = f"POST {target} HTTP/1.1\r\nHost: localhost:{relay.port}\r\nContent-Length: {len(body)}\r\n\r\n"
            link.sendall(head.encode() + body)
            heard = b""
            while b"\n\n\r\n" not in heard:
                heard += link.recv(4096)
        assert soon(lambda: (tmp_path / "1.jsonl").read_text().endswith("\n"))
        over.set()
        session.release()
        tokens = session.ledger().tokens
    assert (tokens and (tokens.input, tokens.output)) == ((7, 2) if counted else None)
    assert json.loads((tmp_path / "1.jsonl").read_text())["end"] == "left"
