"""The two ends of the bridge to an agent on the host: what answers commands in the sandbox, and what its process on
the host may do."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from containers.sandbox import Channel, Limits, Mount, Sandbox, Spec
from harness.agents import inside, outside
from traps.fixtures import File, to_tar

PROGRAM = Path(inside.__path__[0]) / "serve_commands.py"
START = Path(outside.__path__[0]) / "mini_swe.py"


class Server:
    """`serve_commands` in a sandbox."""

    def __init__(self, channel: Channel) -> None:
        self._channel, self._held = channel, b""
        self.system = self.line()

    def line(self) -> dict[str, Any]:
        while b"\n" not in self._held:
            piece = self._channel.receive(1 << 16, 20)
            assert piece, "it is gone"
            self._held += piece
        line, _, self._held = self._held.partition(b"\n")
        assert len(line) < 4 << 20
        found: dict[str, Any] = json.loads(line)
        return found

    def run(self, command: str, seconds: float = 20, cwd: str = "", **env: str) -> dict[str, Any]:
        request = {"command": command, "cwd": cwd, "env": env, "seconds": seconds}
        self._channel.send(json.dumps(request).encode() + b"\n")
        return self.line()


@pytest.fixture
def server(box: Sandbox) -> Iterator[Server]:
    program = Mount(to_tar({"commands.py": File(PROGRAM.read_bytes())}))
    mounts = {"/agent": program, "/work": Mount(writable=True)}
    command = ("python3", "-I", "-B", "/agent/commands.py")
    with box.talk(Spec(command, mounts=mounts, limits=Limits(wall=60))) as channel:
        yield Server(channel)


def test_commands_are_answered_one_after_the_other(server: Server) -> None:
    assert (server.system["system"], len(server.system)) == ("Linux", 5)
    assert server.run("pwd; echo $WORD; echo no >&2", WORD="parcel") == _done("/work\nparcel\nno\n")
    assert server.run("pwd; cat", cwd="/tmp") == _done("/tmp\n")  # there is nothing on its standard input
    assert server.run("printf 'a\\r\\nb\\rc\\377'; exit 7") == _done("a\nb\nc\N{REPLACEMENT CHARACTER}", 7)
    assert server.run("kill -15 $$") == _done("", -15)
    assert server.run("touch here; ls") == _done("here\n")


def _done(output: str, status: int = 0) -> dict[str, Any]:
    return {"end": "done", "output": output, "status": status}


@pytest.mark.parametrize("command", ["no\0", "x" * 200_000])
def test_one_that_cannot_be_started(command: str, server: Server) -> None:
    answer = server.run(command)
    assert (answer["end"], bool(answer["output"])) == ("failed", True)
    assert server.run("echo next") == _done("next\n")


@pytest.mark.parametrize("rest", ["sleep 60", "sleep 60 & exit", "exec >/dev/null 2>&1; sleep 60", "setsid sleep 60"])
def test_one_that_does_not_end_is_killed(rest: str, server: Server) -> None:
    assert server.run(f"echo begun; {rest}", seconds=0.3) == {"end": "late", "output": "begun\n"}
    listed = server.run("cat /proc/[0-9]*/comm")["output"].splitlines()
    assert ("sleep" in listed) == rest.startswith("setsid")  # that one lives until the sandbox ends


def test_of_much_output_start_and_end_are_kept(server: Server) -> None:
    answer = server.run("printf first; head -c 9000000 /dev/zero; printf last")
    assert (answer["end"], answer["status"], len(answer["output"])) == ("done", 0, 1 << 19)
    assert answer["output"].startswith("first\0")
    assert answer["output"].endswith("\0last")


_TRY = """
import os, runpy, socket, subprocess, sys
runpy.run_path({start!r})["_guard"]({model!r})
def tried(work):
    try:
        work()
    except PermissionError:
        return "refused"
    return "done"
print(tried(lambda: {work}))
"""
_REFUSED = {
    "subprocess": "subprocess.run(['true'])",
    "shell": "os.system('true')",
    "fork": "os._exit(0) if os.fork() == 0 else None",
    "exec": "os.execv('/bin/true', ['true'])",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "name": "socket.getaddrinfo('localhost', 80)",
    "address": "socket.socket().connect(('127.0.0.1', PORT))",
    "by its function": "socket.create_connection(('127.0.0.1', PORT))",
    "datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))",
    "other socket": "socket.socket(socket.AF_UNIX).connect('/nowhere')",
}


def _tried(work: str, model: Path) -> subprocess.CompletedProcess[str]:
    program = _TRY.format(start=str(START), model=str(model), work=work)
    return subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("work", _REFUSED.values(), ids=_REFUSED.keys())
def test_what_the_process_on_the_host_may_not_do(work: str, tmp_path: Path) -> None:
    """There is somebody who would answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = _tried(work.replace("PORT", str(listener.getsockname()[1])), tmp_path / "model")
    assert done.stdout == "refused\n", done.stderr
    assert done.stderr.startswith("refused: ")


def test_its_one_way_is_the_socket(tmp_path: Path) -> None:
    model = tmp_path / "model"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(model))
        listener.listen()
        done = _tried("socket.create_connection(('127.0.0.1', 4141), 5).sendall(b'asked')", model)
        assert (done.stdout, done.stderr) == ("done\n", "")
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(10) == b"asked"
