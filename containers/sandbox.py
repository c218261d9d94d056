"""The sandbox protocol: what may go in, what comes out, and which limits hold in between.

A sandbox is one process tree in namespaces of its own, started for one command and gone when that command
is over. Everything that enters is named in a `Spec`; everything that leaves is in a `Result`. Trees cross the
border as tar streams in both directions and are never extracted on the host by anyone above this room.

Invariant: when `run` returns or raises, and when a `Channel` is closed, nothing that was started is alive and
no mount, directory or container is left.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol, Self

from containers.layer import Layer

MIB = 1 << 20

#: Paths inside every sandbox; the same for all implementations.
WORK = "/work"  # the repository tree, working directory of a session
TASK = "/task"  # read-only: prompt.md
AGENT = "/agent"  # read-only: the agent's program
MEMORY = "/memory"  # the one carried directory of memory that lives as files
TOOLS = "/tools"  # the toolchain: TOOLS/bin is first on PATH and has python, python3 and pytest


class SandboxError(Exception):
    """Our side broke (no engine, lost sandbox, host out of disk); never the fault of what ran inside.

    `reason` is one line for the ledger; `remedy` is a command or setting for a person, or "".
    """

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason if not remedy else f"{reason} (remedy: {remedy})")
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class Limits:
    """What one sandbox may use. Bytes unless said otherwise; `wall` in seconds."""

    wall: float = 120.0
    memory: int = 1024 * MIB  # of all processes together, or of each where the host offers no more
    processes: int = 256
    output: int = 1 * MIB  # kept of stdout and of stderr, each; the rest is read, counted and dropped
    disk: int = 256 * MIB  # of each writable place
    inodes: int = 50_000
    export_files: int = 20_000  # entries of all exported trees together
    export_file: int = 8 * MIB  # one exported file
    export_total: int = 64 * MIB

    def but(self, **changes: float | int) -> Limits:
        """The same limits with some replaced."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Mount:
    """A tree at a path inside. `tar` is an uncompressed tar stream (b"" = an empty directory).

    Members keep their file mode bits (0644/0755), symlinks are made as data, owner and times are set by the
    sandbox (one constant time for all). Read-only mounts cannot be changed from inside.
    """

    tar: bytes = b""
    writable: bool = False


class Endpoint(Protocol):
    """Somebody of the harness who answers at one port of a sandbox's loopback (see `relay`).

    The sandbox calls `take` once, before the command starts, and `release` once, when everything inside is dead
    and before `run` or `close` returns or raises; it calls neither when it could not set itself up.
    """

    @property
    def port(self) -> int:
        """The port, 1..65535, on 127.0.0.1 inside."""

    def take(self, listener: socket.socket) -> None:
        """Answer who connects to `listener` (a stream socket that listens); its owner from now on.

        Connections that say nothing and end may come as well: a sandbox may see whether it can be reached.
        """

    def release(self) -> None:
        """Close the listener and every connection that came through it; return when they are closed."""


@dataclass(frozen=True)
class Spec:
    """One run: `command` in `cwd`, with `stdin`, `env` (added to a fixed minimal one) and `mounts`.

    With an `endpoint` its port answers on the loopback inside; without one nothing but the command itself does. A
    `layer` is seen read-only at `layer.LAYER`.
    """

    command: tuple[str, ...]
    stdin: bytes = b""
    mounts: Mapping[str, Mount] = field(default_factory=dict)
    exports: tuple[str, ...] = ()  # writable mounts whose trees come back
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = WORK
    limits: Limits = field(default_factory=Limits)
    endpoint: Endpoint | None = None
    layer: Layer | None = None


@dataclass(frozen=True)
class Dropped:
    """An entry that was not exported: `path` (backslash-escaped UTF-8), `why`.

    `cap` is true when a limit of `Limits` cut the export short (the tree is incomplete), false when the entry
    is of a kind that never travels (device, FIFO, socket, .git).
    """

    path: str
    why: str
    cap: bool = False


@dataclass(frozen=True)
class Result:
    """How one run ended.

    exit      exit status 0..255 of the command, or None when it was killed (see `signal`, `timed_out`)
    signal    number of the signal that ended the command, else None
    timed_out the wall limit was reached and everything inside was killed
    stdout    first `limits.output` bytes; `stdout_bytes` is what was really written (stderr likewise)
    exports   path -> tar stream of the tree as the command left it (sorted members, mtime 0, no .git, no caches
              filtered: filtering is the caller's), taken after every process inside was dead
    dropped   what was not exported, and why
    active    limit name -> how it was enforced here ("cgroup", "rlimit", "tmpfs", "watchdog", "none")
    hit       names of limits that were seen to be hit (e.g. "memory", "wall", "output", "disk")
    timings   stage -> seconds
    """

    exit: int | None
    signal: int | None = None
    timed_out: bool = False
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    exports: Mapping[str, bytes] = field(default_factory=dict)
    dropped: tuple[Dropped, ...] = ()
    active: Mapping[str, str] = field(default_factory=dict)
    hit: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)


class Channel(Protocol):
    """A byte pipe to the standard streams of one fresh sandbox (`talk`).

    Inside, stdin is the harness' side and stdout the answer; a program that will run untrusted code must move
    both off descriptors 0 and 1 first. stderr is drained and dropped by the sandbox.
    """

    def send(self, data: bytes) -> None:
        """Write all of `data`. Raises BrokenPipeError when the other side is gone."""

    def receive(self, size: int, timeout: float) -> bytes:
        """At most `size` bytes; b"" at end of stream. Raises TimeoutError after `timeout` seconds without any."""

    def close(self) -> Result:
        """Kill what still runs and free everything; safe to call twice. `exports` are filled as in `run`."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Sandbox(Protocol):
    """A way to run commands in isolation. Safe to use from several threads at once."""

    name: str

    @property
    def python(self) -> str:
        """Minor version of the interpreter at TOOLS/bin/python3, such as "3.11". Raises SandboxError."""

    def describe(self) -> Mapping[str, str]:
        """What is inside, for the record: engine, versions, toolchain or image digest. No host paths."""

    def run(self, spec: Spec) -> Result:
        """Run to the end. Raises SandboxError when our side broke; whatever the command does is a Result."""

    def talk(self, spec: Spec) -> Channel:
        """Start and return the pipe; `spec.stdin` must be empty. Raises SandboxError as `run` does."""

    def close(self) -> None:
        """Free helpers (fork servers, relay containers). The sandbox cannot be used afterwards."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
