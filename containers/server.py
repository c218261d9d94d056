"""The harness' side of a fork server: starting it, one run at a time through it, ending it.

Invariant: `end` returns when the server is dead; the kernel then kills its cells, and each takes what runs inside
with it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import posixpath
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from containers import cgroup, wire
from containers.rootfs import locate_engine
from containers.sandbox import Dropped, Endpoint, Limits, Result, SandboxError, Spec

_START_TIMEOUT = 30.0  # seconds until a new server says that it is ready
_GRACE = 60.0  # seconds beyond the wall limit for set-up, dying and export
_DEATH_TIMEOUT = 5.0  # seconds that a cell may take to kill its run when nobody wants the result any more
_RESERVED = (
    *("/usr", "/etc", "/proc", "/dev", "/sys", "/tools", "/opt"),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
)
_BOOT = "import sys; sys.path.insert(0, {root!r}); from containers.forkserver import main; main()"


def request_of(spec: Spec) -> tuple[dict[str, Any], list[bytes]]:
    """`spec` as a request. Raises ValueError for a path, variable or export that cannot be."""
    if not spec.command:
        raise ValueError("no command")
    for path in spec.mounts:
        if not _is_clean(path) or path == "/" or any(_within(path, place) for place in _RESERVED):
            raise ValueError(f"nothing can be mounted at {path!r}")
    for path in spec.exports:
        if path not in spec.mounts or not spec.mounts[path].writable:
            raise ValueError(f"only a writable mount can be exported, not {path!r}")
    for name, value in spec.env.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"not an environment variable: {name!r}")
    if any("\0" in part for part in (*spec.command, spec.cwd)) or not _is_clean(spec.cwd):
        raise ValueError("a command or directory that cannot be passed")
    request: dict[str, Any] = {
        "command": list(spec.command),
        "env": dict(spec.env),
        "cwd": spec.cwd,
        "mounts": [{"path": path, "writable": mount.writable} for path, mount in spec.mounts.items()],
        "exports": list(spec.exports),
        "limits": dataclasses.asdict(spec.limits),
        "layer": spec.layer is not None,
    }
    if spec.endpoint is not None:
        if not 1 <= spec.endpoint.port <= 65535:
            raise ValueError(f"not a port: {spec.endpoint.port}")
        request["port"] = spec.endpoint.port
    return request, [spec.stdin, *(mount.tar for mount in spec.mounts.values())]


def _is_clean(path: str) -> bool:
    return path.startswith("/") and not path.startswith("//") and posixpath.normpath(path) == path and "\0" not in path


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


class Server:
    """One fork server process and its cgroup. Not safe from several threads at once.

    `tools` is the host directory of the toolchain, None for none; `layer` that of the one layer which its runs can
    be shown. Raises SandboxError when it cannot start.
    """

    def __init__(self, tools: Path | None, layer: Path | None = None) -> None:
        self.layer = layer
        self.answered = True  # the last request was replied to, be it by an error, and another can be taken
        self._owner = os.getpid()
        engine = locate_engine()
        self._group = cgroup.make_group()
        self._run: socket.socket | None = None
        self._endpoint: Endpoint | None = None  # who has the listener of the run
        self._early: tuple[dict[str, Any], list[bytes]] | None = None  # a reply that came in place of a listener
        self._before: dict[str, int] = {}
        self._sock, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        cgroups = list(self._group.descriptors) if self._group else []
        config = {
            "sock": child.fileno(),
            "parent": self._owner,
            "engine": engine,
            "tools": None if tools is None else str(tools.absolute()),
            "layer": None if layer is None else str(layer.absolute()),
            "cgroups": cgroups,
            "controllers": sorted(self._group.controllers) if self._group else [],
        }
        boot = _BOOT.format(root=str(Path(__file__).absolute().parents[1]))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", boot, json.dumps(config)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[child.fileno(), *cgroups],
                env={"LANG": "C.UTF-8"},
                cwd="/",  # a private working directory of root could not be entered after dropping to another user
                start_new_session=True,
            )
        except OSError as error:
            self._sock.close()
            self._remove_group()
            raise SandboxError(f"the fork server could not be started: {error.strerror}") from error
        finally:
            child.close()
        self._await_ready()

    def _await_ready(self) -> None:
        self._sock.settimeout(_START_TIMEOUT)
        try:
            header, _ = wire.receive_message(self._sock)
        except (wire.Hangup, TimeoutError) as error:
            self.end()
            raise SandboxError("the fork server did not start") from error
        if "error" in header:
            self.end()
            raise SandboxError(header["error"], header["remedy"])
        self._sock.settimeout(None)

    def alive(self) -> bool:
        """Whether it can take a request."""
        return self._process.poll() is None

    def run(
        self, request: dict[str, Any], blobs: list[bytes], limits: Limits, endpoint: Endpoint | None = None
    ) -> Result:
        """One run to its end. Raises SandboxError; then `answered` tells whether the server is still good."""
        self.start(request, blobs, limits, [], endpoint)
        return self.finish(limits, b"", 0)

    def start(
        self,
        request: dict[str, Any],
        blobs: list[bytes],
        limits: Limits,
        streams: list[int],
        endpoint: Endpoint | None = None,
    ) -> None:
        """Send a request; `streams` are the stdin and stdout of a conversation, `endpoint` that of the Spec."""
        self.answered = False
        if self._group is not None:
            try:
                self._group.limit(limits.memory, limits.processes)
                self._before = self._group.counters()
            except OSError as error:
                raise SandboxError(f"a cgroup limit could not be set: {error.strerror}") from error
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._run = ours
        ours.settimeout(limits.wall + _GRACE)
        try:
            socket.send_fds(self._sock, [b"R"], [theirs.fileno(), *streams])
            theirs.close()
            wire.send_message(ours, request, blobs)
        except wire.Hangup:
            pass  # the cell may have replied with an error already: `finish` sees
        except OSError as error:
            theirs.close()
            raise SandboxError(f"the fork server is gone: {error.strerror or error}") from error
        if endpoint is not None:
            self._hand_over(endpoint)

    def _hand_over(self, endpoint: Endpoint) -> None:
        """Give `endpoint` the listener that the cell made inside; an error in its place is kept for `finish`."""
        assert self._run is not None
        try:
            self._early = wire.receive_message(self._run)
            if "listening" not in self._early[0]:
                return
            self._early = None
            _, descriptors, _, _ = socket.recv_fds(self._run, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except (wire.Hangup, OSError) as error:
            raise SandboxError("the supervisor of a sandbox was lost") from error
        if not descriptors:
            raise SandboxError("the supervisor of a sandbox was lost")
        self._endpoint = endpoint
        endpoint.take(socket.socket(fileno=descriptors[0]))

    def _release(self) -> None:
        endpoint, self._endpoint, self._early = self._endpoint, None, None
        if endpoint is not None:
            endpoint.release()

    def finish(self, limits: Limits, command: bytes, received: int) -> Result:
        """Wait for the reply after sending `command` (b"" = let it run); `received` counts a channel's bytes."""
        assert self._run is not None
        try:
            if command:
                try:
                    self._run.sendall(command)
                except BrokenPipeError:
                    pass  # it has ended; its reply is there to be read
            header, blobs = self._early or wire.receive_message(self._run)
        except (wire.Hangup, TimeoutError, ConnectionError) as error:
            raise SandboxError("the supervisor of a sandbox was lost") from error
        finally:
            self._run.close()
            self._run = None
            self._release()
        self.answered = not header["worn"]
        if "error" in header:
            raise SandboxError(header["error"], header["remedy"])
        return read_result(header, blobs, self._active(), self._hits(), received)

    def end(self) -> None:
        """Kill the server and all it started, and remove its cgroup. Nothing in a fork of the owner."""
        if os.getpid() != self._owner:
            return
        self._abandon()
        self._sock.close()
        self._process.kill()
        self._process.wait()
        self._remove_group()

    def _abandon(self) -> None:
        """Have a cell that is still at work kill what is inside, and wait for its own end."""
        if self._run is None:
            return
        with contextlib.suppress(OSError):
            self._run.settimeout(_DEATH_TIMEOUT)
            self._run.shutdown(socket.SHUT_WR)
            while self._run.recv(1 << 16):
                pass
        self._run.close()
        self._run = None
        self._release()

    def _remove_group(self) -> None:
        if self._group is not None:
            self._group.remove()
            self._group = None

    def _active(self) -> dict[str, str]:
        controllers: frozenset[str] = self._group.controllers if self._group else frozenset()
        return {
            "wall": "watchdog",
            "memory": "cgroup" if "memory" in controllers else "watchdog",
            "processes": "cgroup" if "pids" in controllers else "rlimit",
            "output": "watchdog",
            "disk": "tmpfs",
            "inodes": "tmpfs",
            "exports": "watchdog",
        }

    def _hits(self) -> set[str]:
        after = self._group.counters() if self._group else {}
        return {name for name, count in after.items() if count > self._before.get(name, 0)}


def read_result(
    header: dict[str, Any], blobs: list[bytes], active: dict[str, str], hits: set[str], received: int
) -> Result:
    """A cell's reply as a Result. bwrap tells a signal as 128 plus its number, as shells do."""
    code: int | None = header["code"]
    signal = 9 if code is None else code - 128 if 128 < code <= 192 else None
    return Result(
        exit=code if signal is None else None,
        signal=signal,
        timed_out=header["timed_out"],
        stdout=blobs[0],
        stderr=blobs[1],
        stdout_bytes=header["written"][0] or received,
        stderr_bytes=header["written"][1],
        exports=dict(zip(header["exports"], blobs[2:], strict=True)),
        dropped=tuple(Dropped(path, why, cap) for path, why, cap in header["dropped"]),
        active=active,
        hit=tuple(sorted({*header["hit"], *hits})),
        timings=header["timings"],
    )
