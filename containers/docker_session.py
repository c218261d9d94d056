"""One container from creation to removal, and the conversation with its first process.

Invariant: whatever happens, `free` removes the container and gives its network back; the harness keeps no byte of
output beyond the limits.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Self

from containers.docker_engine import HOME, Attached, Engine, engine_errors, volume_mounts
from containers.docker_relay import relayed
from containers.docker_wire import Collector, Corrupt, Demux, request, stdin, volume_tar
from containers.sandbox import TOOLS, Result, SandboxError, Spec

_ENV = {"PATH": f"{TOOLS}/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TZ": "UTC"}
_GRACE = 30.0  # seconds that the start, the trees and the export may take on top of the wall limit
_BLOCK = 1 << 16
_ACTIVE = {
    "wall": "watchdog",
    "memory": "cgroup",
    "processes": "cgroup",
    "output": "watchdog",
    "disk": "tmpfs",
    "inodes": "tmpfs",
    "exports": "watchdog",
}


class Session:
    """One container from creation to removal, and the conversation with its first process."""

    def __init__(self, engine: Engine, spec: Spec, talk: bool, image: str) -> None:
        self.engine = engine
        self.image = image
        self.spec = spec
        self.talk = talk
        self.collector = Collector(spec.limits, spec.exports)
        self.demux = Demux()
        self.ended = False  # no more bytes will come
        self.overdue = False
        self.corrupt = ""
        self.timings: dict[str, float] = {}
        self._frees = ExitStack()
        self._out: Iterator[bytes] = iter(())
        self._pending = b""

    def __enter__(self) -> Self:
        began, self.since = time.monotonic(), time.time()
        try:
            with engine_errors("start a container"):
                self.attached = self._start()
        except BaseException:
            self.free()
            raise
        self.timings["start"] = time.monotonic() - began
        self.began = time.monotonic()
        self.attached.socket.setblocking(False)
        self._out = request(self.spec, self.writable, _ENV | dict(self.spec.env), self.talk)
        return self

    def _start(self) -> Attached:
        mounts = dict(self.spec.mounts)
        read_only = volume_mounts(mounts)
        self.writable = tuple(dict.fromkeys(("/tmp", HOME, "/dev/shm", *(p for p in mounts if p not in read_only))))
        if missing := set(self.spec.exports) - set(self.writable):
            raise ValueError(f"exports that are no writable mounts: {sorted(missing)}")
        endpoint = self.spec.endpoint
        joined = self.engine.network() if endpoint is None else relayed(self.engine, endpoint)
        network = self._frees.enter_context(joined)
        loader = None
        if read_only:
            loader = self.engine.load_volumes(read_only, volume_tar({path: mounts[path] for path in read_only}))
            self._frees.callback(self.engine.remove, loader)
        container = self.engine.create(self.spec.limits, self.writable, network, loader, self.image)
        self._frees.callback(self.engine.remove, container)
        if loader:
            # The session holds the volumes now. A loader never ends by itself, so it must not live longer.
            self.engine.remove(loader)
        attached = self.engine.start(container)
        self._frees.callback(attached.hang_up)
        return attached

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Remove the container; safe to call twice."""
        with engine_errors("remove a container"):
            self._frees.close()

    @property
    def deadline(self) -> float:
        """When the harness stops waiting for process 1 (monotonic seconds)."""
        return self.began + self.spec.limits.wall + _GRACE

    def exchange(self, until: float | None = None) -> None:
        """Send and receive until the conversation is over, or once something came when `until` is given."""
        while not self.ended:
            now = time.monotonic()
            if now > self.deadline:
                self.overdue = self.ended = True
                return
            if until is None:
                self.step(self.deadline - now)
            elif now > until or self.step(min(self.deadline, until) - now):
                return

    def wait_started(self) -> None:
        """Until the command runs. Raises SandboxError when it cannot."""
        while not (self.ended or self.collector.started):
            self.step(1.0)
            if time.monotonic() > self.deadline:
                raise SandboxError("docker: process 1 of a container did not start")
        if not self.collector.started:
            raise SandboxError(f"docker: {self.collector.broken or self.corrupt or 'a container ended at its start'}")

    def step(self, timeout: float) -> bool:
        """Move what can be moved; true when something was received. Raises SandboxError."""
        wanted = self._pending or self._next()
        poll = select.poll()
        poll.register(self.attached.socket, select.POLLIN | (select.POLLOUT if wanted else 0))
        with engine_errors("talk to a container"):
            events = poll.poll(max(0.0, timeout) * 1000)
            what = events[0][1] if events else 0
            if what & select.POLLOUT:
                self._send()
            if what & ~select.POLLOUT:
                return self._receive()
        return False

    def queue(self, data: bytes) -> None:
        """Send this after what is already waiting (a channel's own bytes)."""
        while self._pending or self._next():
            self.step(1.0)
            if self.ended:
                raise BrokenPipeError("the sandbox has ended")
        self._out = stdin(data)

    @property
    def sending(self) -> bool:
        """Whether bytes wait to be sent."""
        return bool(self._pending or self._next())

    def _next(self) -> bytes:
        if not self._pending:
            parts, size = [], 0
            for part in self._out:
                parts.append(part)
                size += len(part)
                if size >= _BLOCK:
                    break
            self._pending = b"".join(parts)
        return self._pending

    def _send(self) -> None:
        try:
            sent = self.attached.socket.send(self._pending)
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            # Nobody reads any more; what the container said before it ended can still be received.
            self._pending, self._out = b"", iter(())
            return
        self._pending = self._pending[sent:]

    def _receive(self) -> bool:
        try:
            data = self.attached.socket.recv(_BLOCK)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            data = b""
        if not data:
            self.ended = True
            return True
        try:
            self.collector.feed(self.demux.feed(data))
        except Corrupt as error:
            self.corrupt = f"process 1 broke the rules of the wire: {error}"
            self.ended = True
        if self.collector.done:
            self.ended = True
        return True

    def stop(self) -> None:
        """Make process 1 kill the command and export."""
        with engine_errors("stop a container"):
            self.engine.terminate(self.attached.id)

    def result(self) -> Result:
        """What the finished conversation says. Raises SandboxError when the trees did not fit."""
        got = self.collector
        if got.broken:
            raise SandboxError(f"docker: {got.broken}", "raise the limits on disk and inodes")
        seen: set[str] = set()
        if not got.done:
            seen = self._fate()
            got.lost(self.corrupt or "the container ended before its trees were read")
        end = got.end or {"exit": None, "signal": 9, "timed_out": self.overdue, "hit": []}
        seconds = float(end.get("seconds", 0.0))
        self.timings |= {"run": seconds, "export": max(0.0, time.monotonic() - self.began - seconds)}
        counts = (int(end.get("stdout_bytes", len(got.stdout))), int(end.get("stderr_bytes", len(got.stderr))))
        return Result(
            exit=end["exit"],
            signal=end["signal"],
            timed_out=end["timed_out"],
            stdout=b"" if self.talk else bytes(got.stdout[: self.spec.limits.output]),
            stderr=bytes(got.stderr),
            stdout_bytes=counts[0],
            stderr_bytes=counts[1],
            exports=got.exports(),
            dropped=got.budget.all_dropped(),
            active=self._active(),
            hit=self._hit(seen | set(end["hit"]), bool(end["timed_out"]), max(counts if not self.talk else counts[1:])),
            timings=self.timings,
        )

    def _fate(self) -> set[str]:
        """Limits that killed process 1. Raises SandboxError when somebody else removed the container."""
        if self.overdue or self.corrupt:
            return set()
        with engine_errors("learn how a container ended"):
            fate = self.engine.fate(self.attached.id, self.since)
        if "killed" in fate:
            raise SandboxError("docker: a container was killed from outside", "see who else uses the engine")
        return {"memory"} if "oom" in fate else set()

    def _active(self) -> dict[str, str]:
        lacking = {"memory": self.engine.memory_limited, "processes": self.engine.processes_limited}
        return _ACTIVE | {name: "none" for name, limited in lacking.items() if not limited}

    def _hit(self, seen: set[str], timed_out: bool, output: int) -> tuple[str, ...]:
        if timed_out:
            seen.add("wall")
        if output > self.spec.limits.output:
            seen.add("output")
        return tuple(sorted(seen))
