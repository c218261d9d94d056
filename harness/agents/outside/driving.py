"""Drive a session whose agent stays on the host: its process, one sandbox for its commands, and a bridge between.

    model <- relay <- a socket in the process' own folder <- the process -> lines -> the bridge -> lines -> the sandbox

What crosses the bridge are lines: a command to the sandbox, its output and status back. The sandbox has neither the
layer nor the way to the model.

Invariant: when `drive` returns or raises, the process, the sandbox and the folder are gone, and the endpoint is
released; when either the process or the sandbox dies, the other is ended.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from containers.sandbox import Result, Sandbox, SandboxError, Spec
from harness.agents.outside.process import Process, Program

LINE = 4 << 20  # bytes of a line, either way
_READ = 1 << 16
_TICK = 0.2  # seconds between looks at whether the process lives
_TAKEN = 30.0  # seconds in which the process takes an answer
_EXIT = 30.0  # seconds from the end of its questions to its exit
_SOCKET = "model"  # its name in the folder


class _Over(Exception):
    """The other side is gone, or does not keep to lines."""


def drive(program: Program, sandbox: Sandbox, spec: Spec) -> Result:
    """Run a session: `spec.command` in the sandbox answers lines, the program asks them.

    Exit status and output are the program's, all else is the sandbox'. Raises SandboxError as `Sandbox.run` does.
    """
    if spec.endpoint is None or spec.layer is None:
        raise ValueError("an agent on the host needs its layer and the way to a model")
    deadline = time.monotonic() + spec.limits.wall
    with ExitStack() as stack:
        home = Path(stack.enter_context(_folder()))
        stack.callback(spec.endpoint.release)
        spec.endpoint.take(_listen(home / _SOCKET))
        channel = stack.enter_context(sandbox.talk(replace(spec, endpoint=None, layer=None)))
        places = {"site": spec.layer.directory / "site", "model": home / _SOCKET}
        process = Process(program, home, places, spec.limits.output)
        stack.callback(process.end)
        held = _bridge(process, _Side(channel.send, channel.receive), deadline)
        if held:  # it closed its end: it is about to exit
            process.wait(min(_EXIT, deadline - time.monotonic()))
        late = time.monotonic() >= deadline
        process.end()
        return _result(channel.close(), process, held, late, spec.limits.output)


def _folder() -> TemporaryDirectory[str]:
    try:
        return TemporaryDirectory(prefix="agent-")  # for this user alone
    except OSError as error:
        raise SandboxError(f"no folder for the agent: {error.strerror}") from error


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise SandboxError(f"no socket for the model: {error}", "a shorter TMPDIR") from error
    return listener


class _Side:
    """One side of the bridge: lines, of at most LINE bytes."""

    def __init__(self, send: Callable[[bytes], None], receive: Callable[[int, float], bytes]) -> None:
        self._send, self._receive = send, receive
        self._held = bytearray()

    def put(self, line: bytes) -> None:
        """Send a line. Raises _Over."""
        try:
            self._send(line + b"\n")
        except OSError as error:
            raise _Over from error

    def next(self, timeout: float) -> bytes:
        """The next line. Raises _Over, or TimeoutError when there was nothing new for `timeout` seconds."""
        seen = 0
        while (end := self._held.find(b"\n", seen)) < 0:
            seen = len(self._held)
            piece = self._receive(_READ, timeout)
            if not piece or seen + len(piece) > LINE:
                raise _Over
            self._held += piece
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return line


def _bridge(process: Process, inside: _Side, deadline: float) -> bool:
    """Carry lines until the process ends or the time is over; False when the sandbox answers no more before that."""
    asking = _Side(process.link.sendall, lambda size, timeout: _receive(process.link, size, timeout))
    while True:  # the sandbox speaks first
        try:
            answer = _next(inside, process, deadline)
        except _Over:
            return False
        if answer is None or (line := _asked(asking, answer, process, deadline)) is None:
            return True
        try:
            inside.put(line)
        except _Over:
            return False


def _asked(asking: _Side, answer: bytes, process: Process, deadline: float) -> bytes | None:
    """What the process asks for next, told the answer to what it asked before; None when there is no more."""
    try:
        process.link.settimeout(_TAKEN)
        asking.put(answer)
        return _next(asking, process, deadline)
    except _Over:
        return None


def _next(side: _Side, process: Process, deadline: float) -> bytes | None:
    """The next line; None when the time is over or the process has ended. Raises _Over."""
    while (left := deadline - time.monotonic()) > 0:
        try:
            return side.next(min(left, _TICK))
        except TimeoutError:
            if not process.alive():
                return None
    return None


def _receive(link: socket.socket, size: int, timeout: float) -> bytes:
    link.settimeout(timeout)
    try:
        return link.recv(size)
    except ConnectionResetError:
        return b""


def _result(box: Result, process: Process, held: bool, late: bool, most: int) -> Result:
    """What the sandbox says, with the process in the place of its command."""
    out, err = process.stdout, process.stderr
    hit = set(box.hit)
    if max(out.size, err.size) > most:
        hit.add("output")
    if late:
        hit.add("wall")
    status = process.status()
    alone = held and not late and not box.timed_out
    return replace(
        box,
        exit=status if alone and status >= 0 else None,
        signal=None if alone and status >= 0 else -status if alone else box.signal or 9,
        timed_out=box.timed_out or late,
        stdout=bytes(out.data),
        stderr=bytes(err.data),
        stdout_bytes=out.size,
        stderr_bytes=err.size,
        hit=tuple(sorted(hit)),
    )
