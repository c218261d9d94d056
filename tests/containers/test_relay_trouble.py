"""The relay when the endpoint has trouble and when a session reaches a limit."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from containers.relay import Dialect, Ledger, Patience, Quota, Relay, Upstream, routes
from containers.sandbox import WORK, Limits, Mount, Sandbox, Spec

from .relay_kit import EAGER, PROGRAM, Handler, Make, Model, answer, chunks, reset, said, shown

ASK = "show(*[ask()[0] for _ in range({})])"


class TestTrouble:
    def test_what_passes_is_sat_out(self, make_relay: Make) -> None:
        replies = (answer(b"{}", 429, Retry_After="3"), reset, answer(b"{}", 503), answer(said()))
        bench = make_relay(*replies, patience=Patience(attempts=4, first=0.01, longest=0.02))
        session = bench.open()
        ((status, headers, _),) = shown(bench.run("show(*ask())", session))
        assert (status, "x-should-retry" in headers) == (200, False)
        ledger = session.ledger()
        assert (ledger.calls, ledger.repeats, ledger.down) == (1, 3, "")
        assert ledger.tokens is not None
        assert ledger.tokens.input == 7
        (row,) = bench.rows
        broke = {"status": "the connection broke", "wait": 0.02}
        assert row["attempts"] == [
            *({"status": 429, "wait": 0.02}, broke, {"status": 503, "wait": 0.02}, {"status": 200, "wait": 0.0})
        ]
        assert row["waited"] >= 0.06
        assert len({seen.body for seen in bench.model.seen}) == 1

    def test_waits_double_and_honour_what_is_asked(self) -> None:
        patience = Patience(first=0.5, longest=30.0)
        assert [patience.wait(n, None) for n in (1, 2, 3, 7, 8, 100)] == [0.5, 1.0, 2.0, 30.0, 30.0, 30.0]
        assert [patience.wait(1, asked) for asked in (0.1, 7.0, 3600.0)] == [0.5, 7.0, 30.0]

    def test_an_endpoint_that_stays_down(self, make_relay: Make) -> None:
        bench = make_relay(answer(b'{"error": "boom"}', 500))
        session = bench.open()
        first, second = shown(bench.run("show(*ask()); show(*ask())", session))
        assert (first[0], first[2], first[1]["x-should-retry"]) == (500, '{"error": "boom"}', "false")
        assert second[0] == 503
        assert len(bench.model.seen) == EAGER.attempts  # it is not asked again
        assert session.ledger().down == "HTTP 500 after 3 attempts"
        assert [row["end"] for row in bench.rows] == ["down", "down"]
        (used,) = session.ledger().usage
        assert used.tokens is not None
        assert used.tokens.input == 0  # errors cost nothing

    def test_an_endpoint_that_is_not_there(self, bubblewrap_box: Sandbox, tmp_path: Path) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as unused:
            port = unused.getsockname()[1]
        upstream = Upstream(f"http://127.0.0.1:{port}", "", routes(Dialect.CHAT))
        with Relay(upstream, EAGER) as relay:
            session = relay.open(Quota(), tmp_path / "t")
            spec = Spec(("python3", "-c", PROGRAM + ASK.format(2)), cwd="/tmp", endpoint=session)
            assert shown(bubblewrap_box.run(spec)) == [[502, 503]]
            assert session.ledger().down == "no connection after 3 attempts"
        rows = [json.loads(line) for line in (tmp_path / "t").read_text().splitlines()]
        assert [json.loads(row["response"])["error"]["type"] for row in rows] == ["server_error"] * 2

    @pytest.mark.parametrize("status", [401, 402, 403])
    def test_a_key_that_is_refused_is_no_fault_of_the_agent(self, make_relay: Make, status: int) -> None:
        bench = make_relay(answer(b"key sk-q7***c1 is wrong", status))
        session = bench.open()
        ((shown_status, _, body),) = shown(bench.run("show(*ask())", session))
        assert (shown_status, "sk-" in body) == (502, False)
        assert session.ledger().down == f"the endpoint refuses the key: HTTP {status}"

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_redirects_are_not_followed(self, make_relay: Make, status: int) -> None:
        with Model(answer(said())) as elsewhere:
            bench = make_relay(answer(b"", status, Location=elsewhere.url))
            session = bench.open()
            assert shown(bench.run(ASK.format(1), session)) == [[502]]
            assert elsewhere.seen == []
            assert "redirects" in session.ledger().down

    def test_an_encoded_answer_is_none(self, make_relay: Make) -> None:
        bench = make_relay(answer(b"\x1f\x8b", Content_Encoding="gzip"))
        session = bench.open()
        assert shown(bench.run(ASK.format(1), session)) == [[502]]
        assert "encodes" in session.ledger().down

    def test_what_the_agent_got_wrong_is_told_to_it(self, make_relay: Make) -> None:
        bench = make_relay(answer(b'{"error":"too long"}', 400))
        session = bench.open()
        ((status, _, body),) = shown(bench.run("show(*ask())", session))
        assert (status, body) == (400, '{"error":"too long"}')
        assert (session.ledger().down, session.ledger().repeats) == ("", 0)

    def test_no_proxy_of_the_environment(self, make_relay: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        bench = make_relay(answer(said()))
        assert shown(bench.run(ASK.format(1))) == [[200]]

    def test_a_stream_that_is_cut_is_cut_inside_too(self, make_relay: Make) -> None:
        usage = b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n'
        bench = make_relay(chunks(usage, end=False), answer(said()))
        session = bench.open()
        code = """
link = http.client.HTTPConnection("127.0.0.1", PORT)
link.request("POST", "/v1/chat/completions", b"{}")
try: link.getresponse().read(); show("whole")
except http.client.IncompleteRead as error: show(error.partial.decode())
show(ask()[0])
"""
        assert shown(bench.run(code, session)) == [[usage.decode()], [200]]
        ledger = session.ledger()
        assert (ledger.cut, ledger.down, ledger.repeats) == (1, "", 0)
        assert ledger.tokens is None  # what the cut answer cost is not known
        assert {used.model: used.tokens is None for used in ledger.usage} == {"": True, "m": False}
        assert [row["end"] for row in bench.rows] == ["cut", "whole"]

    def test_an_endpoint_that_hangs_shows(self, make_relay: Make) -> None:
        """The session's time ends; the ledger has for how long nothing was heard."""
        over = threading.Event()
        bench = make_relay(lambda to: over.wait(20) and None)
        session = bench.open(Quota(seconds=1.5))
        ((status, headers, body),) = shown(bench.run("show(*ask())", session))
        over.set()
        assert (status, headers["x-should-retry"]) == (429, "false")
        assert "wall" in json.loads(body)["error"]["message"]
        ledger = session.ledger()
        assert ledger.hit == ("wall",)
        assert ledger.silent > 0
        assert ledger.tokens is None

    def test_no_repeat_beyond_the_sessions_time(self, make_relay: Make) -> None:
        bench = make_relay(answer(b"", 429, Retry_After="25"), patience=Patience())
        session = bench.open(Quota(seconds=20.0))
        assert shown(bench.run(ASK.format(1), session)) == [[429]]
        assert session.ledger().down == "HTTP 429 after 1 attempts"


class TestLimits:
    def test_calls(self, make_relay: Make) -> None:
        bench = make_relay(answer(said()))
        session = bench.open(Quota(calls=2))
        (three,) = shown(bench.run("show(*[ask() for _ in range(3)])", session))
        assert [status for status, _, _ in three] == [200, 200, 429]
        error = json.loads(three[2][2])["error"]
        assert (error["code"], error["message"]) == ("insufficient_quota", "a limit of this session is reached: calls")
        ledger = session.ledger()
        assert (ledger.calls, ledger.hit, len(bench.model.seen)) == (2, ("calls",), 2)
        assert [row["end"] for row in bench.rows] == ["whole", "whole", "limit"]

    def test_tokens(self, make_relay: Make) -> None:
        bench = make_relay(answer(said(prompt=60, completion=39)), answer(said(prompt=1, completion=0)))
        session = bench.open(Quota(tokens=100))
        assert shown(bench.run(ASK.format(4), session)) == [[200, 200, 429, 429]]
        assert [row["request"] == "" for row in bench.rows] == [False, False, True, True]
        assert "tokens" in bench.rows[3]["response"]
        assert session.ledger().hit == ("tokens",)

    def test_a_gate_and_a_stop(self, make_relay: Make) -> None:
        asked: list[Ledger] = []

        def gate(ledger: Ledger) -> str:
            asked.append(ledger)
            return "cost" if ledger.calls == 1 else ""

        bench = make_relay(answer(said()))
        session = bench.open(gate=gate)
        assert shown(bench.run(ASK.format(2), session)) == [[200, 429]]
        assert session.ledger().hit == ("cost",)
        assert [ledger.calls for ledger in asked] == [0, 1]
        again = bench.open()
        again.stop("budget of the run")
        assert shown(bench.run(ASK.format(1), again)) == [[429]]
        assert again.ledger().hit == ("budget of the run",)

    @pytest.mark.parametrize("dialect", list(Dialect))
    def test_each_dialect_is_told_in_its_own_words(
        self, bubblewrap_box: Sandbox, tmp_path: Path, dialect: Dialect
    ) -> None:
        with Model(answer(b"{}")) as model, Relay(Upstream(model.url, "", routes(dialect, "g"))) as relay:
            session = relay.open(Quota(calls=0), tmp_path / "t")
            target = relay.upstream.routes[0].target
            spec = Spec(("python3", "-c", f"{PROGRAM}show(*ask(path={target!r}))"), cwd="/tmp", endpoint=session)
            ((status, headers, body),) = shown(bubblewrap_box.run(spec))
            assert (status, headers["x-should-retry"], model.seen) == (429, "false", [])
            told = json.loads(body)
            kind = {
                Dialect.CHAT: lambda: told["error"]["code"] == "insufficient_quota",
                Dialect.RESPONSES: lambda: told["error"]["code"] == "insufficient_quota",
                Dialect.ANTHROPIC: lambda: (told["type"], told["error"]["type"]) == ("error", "rate_limit_error"),
                Dialect.GEMINI: lambda: told["error"]["status"] == "RESOURCE_EXHAUSTED",
            }
            assert kind[dialect]()

    def test_two_sessions_at_once_have_their_own(self, make_relay: Make) -> None:
        """One asks until it is refused while the other asks once; each ledger has its own calls alone."""
        bench = make_relay(answer(said()))
        greedy, modest = bench.open(Quota(calls=3)), bench.open(Quota(calls=3))
        found: dict[str, object] = {}

        def run(name: str, times: int, session: object) -> None:
            code = PROGRAM + ASK.format(times)
            spec = Spec(("python3", "-c", code), cwd="/tmp", endpoint=session)  # type: ignore[arg-type]
            found[name] = shown(bench.box.run(spec))

        threads = [threading.Thread(target=run, args=a) for a in (("greedy", 9, greedy), ("modest", 1, modest))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {"greedy": [[200] * 3 + [429] * 6], "modest": [[200]]}
        assert (greedy.ledger().calls, greedy.ledger().hit) == (3, ("calls",))
        assert (modest.ledger().calls, modest.ledger().hit) == (1, ())

    def test_calls_at_once_wait_once(self, make_relay: Make) -> None:
        """Four calls that are answered together: the time counts once, and the transcript is in order."""
        gate = threading.Barrier(4)

        def together(to: Handler) -> None:
            gate.wait(20)
            time.sleep(0.2)
            answer(said())(to)

        bench = make_relay(together)
        session = bench.open()
        code = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool: show(*[f.result()[0] for f in [pool.submit(ask) for _ in range(4)]])
"""
        assert shown(bench.run(code, session)) == [[200] * 4]
        assert session.ledger().waited < sum(row["waited"] for row in bench.rows)
        assert [row["number"] for row in bench.rows] == [1, 2, 3, 4]


def test_limits_are_the_sandboxes_own_too(make_relay: Make) -> None:
    """A sandbox that is killed by its wall limit while it waits for the model."""
    over = threading.Event()
    bench = make_relay(lambda to: over.wait(20) and None)
    session = bench.open()
    spec = Spec(
        ("python3", "-c", PROGRAM + "ask()"),
        mounts={WORK: Mount(writable=True)},
        limits=Limits(wall=1.0),
        endpoint=session,
    )
    assert bench.box.run(spec).timed_out
    over.set()
    ledger = session.ledger()
    assert ledger.calls == 1
    assert ledger.silent > 0
    assert ledger.tokens is None
    (line,) = (bench.folder / "1.jsonl").read_text().splitlines()
    assert json.loads(line)["end"] == "left"
