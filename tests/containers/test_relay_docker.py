"""The relay before a docker sandbox: the same answers, the same walls, and nothing left."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from containers import docker_engine
from containers.docker import DockerSandbox
from containers.relay import Quota, Relay
from containers.relay_session import Session
from containers.sandbox import Limits, Sandbox, SandboxError, Spec

from .bubblewrap_kit import soon
from .relay_kit import CHAT, EAGER, KEY, PROGRAM, Bench, Make, Model, Reply, answer, chat_upstream, chunks, said, shown

pytestmark = [pytest.mark.docker, pytest.mark.long]


@pytest.fixture
def make(docker_box: Sandbox, tmp_path: Path) -> Iterator[Make]:
    """As `make_relay`, before docker."""
    with ExitStack() as stack:

        def build(*replies: Reply) -> Bench:
            model = stack.enter_context(Model(*replies))
            return Bench(docker_box, model, stack.enter_context(Relay(chat_upstream(model), EAGER)), tmp_path)

        yield build


def leftovers(label: str) -> list[str]:
    """Containers of these tests that run no session: pause containers aside, there should be none."""
    client = docker_engine.connect()
    try:
        found = client.api.containers(all=True, filters={"label": f"{docker_engine.LABEL}={label}"})
        return [str(entry["Command"]) for entry in found if "cat" not in entry["Command"]]
    finally:
        client.close()


@pytest.fixture(autouse=True)
def own_place(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Temporary folders of this test and of no neighbour. Its name is short: sockets lie in it."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as place:
        os.chmod(place, 0o755)
        monkeypatch.setattr(tempfile, "tempdir", place)
        yield


def folders() -> set[str]:
    return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("relay-")}


def test_answers_streams_and_refusals(make: Make, docker_label: str) -> None:
    before = folders()
    events = [b'data: {"choices":[]}\n\n', b'data: {"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n']
    bench = make(answer(said("hi")), chunks(*events), chunks(events[0], end=False), answer(said()))
    port = bench.model.server_address[1]
    session = bench.open()
    code = f"""
show(*ask()); show(*ask())
link = http.client.HTTPConnection("127.0.0.1", PORT)
link.request("POST", "/v1/chat/completions", b"{{}}")
try: link.getresponse().read(); show("whole")
except http.client.IncompleteRead as error: show(error.partial.decode())
show(ask(path="/v1/files")[0], ask(method="GET")[0], ask(headers={{"Host": "evil"}})[0])
def reach(host, port):
    try: socket.create_connection((host, port), 2).close(); return True
    except OSError: return False
show(*[reach(h, p) for h, p in (("127.0.0.1", {port}), ("10.0.0.1", 80), ("8.8.8.8", 53), ("172.17.0.1", {port}),
                                ("169.254.169.254", 80), ("example.com", 80))])
show([name for _, name in socket.if_nameindex()])
import glob
link = http.client.HTTPConnection("127.0.0.1", PORT)
link.request("POST", "/v1/chat/completions", b"{{}}")
link.getresponse().read()  # and the connection is kept
show([line.split()[7] for line in open("/proc/net/unix").read().splitlines()[1:] if len(line.split()) > 7])
seen = b""
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline") + ["/proc/self/mountinfo", "/proc/net/unix"]:
    try: seen += open(path, "rb").read()
    except OSError: pass
show(seen.decode("latin-1"))
"""
    first, second, cut, refused, reached, devices, names, seen = shown(bench.run(code, session))
    assert (first[0], json.loads(first[2])["choices"][0]["message"]["content"]) == (200, "hi")
    assert (second[0], second[2]) == (200, b"".join(events).decode())
    assert cut == [events[0].decode()]
    assert refused == [404, 405, 403]
    assert reached == [False] * 6
    assert devices == [["lo"]]
    assert KEY not in seen[0]
    assert tempfile.gettempdir() + "/" not in seen[0]
    assert "relay" not in seen[0]
    assert names == [["s"]]  # of the connection, as the harness bound it: no path of the host
    ledger = session.ledger()
    assert (ledger.calls, ledger.refusals, ledger.cut, ledger.fault) == (4, 3, 1, "")
    assert [row["end"] for row in bench.rows] == ["whole", "whole", "cut", "refused", "refused", "refused", "whole"]
    assert session.released
    assert folders() == before
    assert soon(lambda: leftovers(docker_label) == [])


def test_two_at_once_and_one_killed(make: Make, docker_label: str) -> None:
    """One waits for the model when it is closed; the other asks until its limit."""
    before, over = folders(), threading.Event()
    bench = make(lambda to: over.wait(30) and None, answer(said()))
    stuck, busy = bench.open(), bench.open(Quota(calls=2))

    def spec(code: str, session: Session) -> Spec:
        return Spec(("python3", "-c", PROGRAM + code), cwd="/tmp", limits=Limits(wall=60), endpoint=session)

    channel = bench.box.talk(spec("print('ready', flush=True); ask()", stuck))
    assert channel.receive(6, 30) == b"ready\n"
    assert soon(lambda: len(bench.model.seen) == 1)
    assert shown(bench.box.run(spec("show(*[ask()[0] for _ in range(3)])", busy))) == [[200, 200, 429]]
    assert folders() == before  # the socket is where only the relay container has it
    channel.close()
    over.set()
    assert (stuck.ledger().calls, stuck.ledger().tokens, stuck.ledger().hit) == (1, None, ())
    assert (busy.ledger().calls, busy.ledger().hit) == (2, ("calls",))
    assert soon(lambda: bench.model.open == 1)  # the connection that is kept for the next call
    assert folders() == before
    assert soon(lambda: leftovers(docker_label) == [])


def test_an_engine_elsewhere_is_refused(make: Make, docker_image: str, docker_label: str) -> None:
    bench = make(answer(said()))
    with DockerSandbox(docker_image, docker_label) as sandbox:
        sandbox.engine.api.base_url = "http://elsewhere:2375"
        session = bench.open()
        with pytest.raises(SandboxError, match="another machine"):
            sandbox.run(Spec(("true",), cwd="/tmp", endpoint=session))
    assert not session.released
    session.release()


def test_a_container_that_cannot_reach_the_socket(
    make: Make, docker_label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with an engine in a virtual machine: said at the start, and everything is taken back."""
    before = folders()
    bench = make(answer(said()))
    monkeypatch.setattr(os, "chmod", lambda *_: None)
    session = bench.open()
    old = os.umask(0o077)
    try:
        with pytest.raises(SandboxError, match=r"cannot reach the relay: PermissionError"):
            bench.run(f"ask(path={CHAT!r})", session)
    finally:
        os.umask(old)
    assert session.released
    assert folders() == before
    assert soon(lambda: leftovers(docker_label) == [])
