"""Watching one running sandbox from the outside: its output, its clock, its memory, and its end.

Invariant: `Watch.run` returns only when every process inside is dead and every byte they wrote has been read;
memory used here does not grow with what they write.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable

from containers import wire
from containers.launch import Launch
from containers.sandbox import SandboxError

_DEATH_TIMEOUT = 20.0  # seconds that a killed pid namespace may take to be gone
_BIRTH_TIMEOUT = 2.0  # seconds that bwrap may take to say which process it started
_NATURAL_END = 0.5  # seconds that a command may take to end after its peer saw the end of the stream
_BLOCK = 1 << 18


class Kept:
    """The first `limit` bytes of a stream and the count of all."""

    def __init__(self, limit: int) -> None:
        self.limit, self.data, self.total = limit, bytearray(), 0

    def take(self, block: bytes) -> None:
        self.total += len(block)
        if (room := self.limit - len(self.data)) > 0:
            self.data += block[:room]


class Watch:
    """One run. Give it the descriptors (it closes them), call `run`, read the attributes."""

    def __init__(self, launch: Launch, peer: socket.socket, wall: float, output: int) -> None:
        self.stdout, self.stderr = Kept(output), Kept(output)
        self.timed_out = self.peer_gone = self.over_memory = False
        self.ended = False
        self.wait_status: int | None = None  # of bwrap, if it is known
        self.started = False  # the command, not only bwrap
        self.killed = False  # by us
        self._link, self._peer, self._deadline = launch.link, peer, time.monotonic() + wall
        self._init = -1  # pidfd of the first process inside, while it lives
        self.init_pid = 0
        self._doomed = 0.0  # until when a wanted kill waits for the first process to be known; 0 = none waits
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._sinks: dict[int, Kept] = {}
        self._status, self._status_text = launch.status, b""
        self._pending = memoryview(b"")
        self._stdin = -1
        self._tick: Callable[[], bool] | None = None
        self._phase = "running"  # then "finishing" (a moment for a natural end) or "dying"
        self._add(self._link.fileno(), self._on_exit)
        self._add(self._status, self._on_status)
        self._add(peer.fileno(), self._on_peer)

    def drain(self, descriptor: int, sink: Kept) -> None:
        """Read `descriptor` to its end into `sink`."""
        self._sinks[descriptor] = sink
        self._add(descriptor, self._on_output)

    def feed(self, descriptor: int, data: bytes) -> None:
        """Write `data` to `descriptor`, then close it. That the reader stops early is no error."""
        if not data:
            os.close(descriptor)
            return
        os.set_blocking(descriptor, False)
        self._stdin, self._pending = descriptor, memoryview(data)
        self._add(descriptor, self._on_input, select.POLLOUT)

    def every_tick(self, within_memory: Callable[[], bool]) -> None:
        """Ask ten times a second whether memory holds; kill when it does not."""
        self._tick = within_memory

    def run(self) -> None:
        """Until everything inside is dead and read. Raises SandboxError when it does not die."""
        while not self.ended or self._sinks or self._init >= 0:
            self._turn()
        self._finish()

    def _kill(self) -> None:
        """SIGKILL to the first process inside, which takes the whole pid namespace with it.

        Killing bwrap before that process is known could leave it behind: bwrap clones it first and tells its
        number afterwards, and it asks to die with bwrap only later still. So such a kill waits for the number.
        """
        self.killed = self.killed or not self.ended
        if self._init >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        elif not self.ended and not self.init_pid and time.monotonic() < (self._doomed or float("inf")):
            self._doomed = self._doomed or time.monotonic() + _BIRTH_TIMEOUT
        elif not self.ended:
            self._doomed = 0.0
            with contextlib.suppress(OSError):  # it has just ended
                self._link.shutdown(socket.SHUT_WR)

    def _turn(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            self._expire()
            return
        wait = min(left, 0.1) if self._tick is not None or self._doomed else left
        events = self._poll.poll(max(1, int(wait * 1000)))
        for descriptor, _ in events:
            if (handler := self._handlers.get(descriptor)) is not None:
                handler(descriptor)
        if self._doomed and time.monotonic() >= self._doomed:
            self._kill()
        if self._tick is not None and not self.ended and not self._tick():
            self.over_memory, self._tick = True, None
            self._kill_and_wait()

    def _expire(self) -> None:
        if self._phase == "dying":
            raise SandboxError("a killed sandbox did not die")
        self.timed_out = self._phase == "running"
        self._kill_and_wait()

    def _kill_and_wait(self) -> None:
        self._kill()
        if self._phase != "dying":
            self._phase, self._deadline = "dying", time.monotonic() + _DEATH_TIMEOUT

    def _add(self, descriptor: int, handler: Callable[[int], None], events: int = select.POLLIN) -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, events)

    def _drop(self, descriptor: int, close: bool = True) -> None:
        del self._handlers[descriptor]
        self._poll.unregister(descriptor)
        if close:
            os.close(descriptor)

    def _on_output(self, descriptor: int) -> None:
        block = os.read(descriptor, _BLOCK)
        if block:
            self._sinks[descriptor].take(block)
        else:
            del self._sinks[descriptor]
            self._drop(descriptor)

    def _on_input(self, descriptor: int) -> None:
        try:
            self._pending = self._pending[os.write(descriptor, self._pending[:_BLOCK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._pending = memoryview(b"")
        if not self._pending:
            self._stdin = -1
            self._drop(descriptor)

    def _on_status(self, descriptor: int) -> None:
        block = os.read(descriptor, 4096)
        if not block:
            self._status = -1
            self._drop(descriptor)
            return
        *lines, self._status_text = (self._status_text + block).split(b"\n")
        for line in filter(None, lines):
            told = json.loads(line)
            if "child-pid" in told and not self.init_pid:
                self._watch_init(int(told["child-pid"]))
            self.started = self.started or "exit-code" in told  # bwrap says this only if exec succeeded

    def _watch_init(self, pid: int) -> None:
        self.init_pid = pid
        try:
            self._init = os.pidfd_open(pid)
        except ProcessLookupError:
            return  # dead and gone already, and everything inside with it
        self._add(self._init, self._on_init_death)
        if self._doomed:
            self._doomed = 0.0
            self._kill()

    def _on_init_death(self, descriptor: int) -> None:
        self._init = -1
        self._drop(descriptor)

    def _on_exit(self, descriptor: int) -> None:
        told = self._link.recv(4)
        self.ended = True
        if len(told) == 4:  # else the nursery was killed, and bwrap with it
            (self.wait_status,) = struct.unpack("<i", told)
        self._drop(descriptor, close=False)
        self._link.close()
        while self._status >= 0:  # bwrap is gone, so this ends
            self._on_status(self._status)
        self._kill_and_wait()  # what the command left behind

    def _on_peer(self, descriptor: int) -> None:
        try:
            command = self._peer.recv(1)
        except OSError:
            command = b""
        self._drop(descriptor, close=False)
        if command == wire.FINISH and self._phase == "running":
            self._phase = "finishing"
            self._deadline = min(self._deadline, time.monotonic() + _NATURAL_END)
            return
        self.peer_gone = command == b""
        self._kill_and_wait()

    def _finish(self) -> None:
        if self._stdin >= 0:
            self._drop(self._stdin)
        if self._status >= 0:
            self._drop(self._status)
