"""The process of an agent that stays on the host.

It is started by the harness' interpreter without any of the harness' packages, in a fresh folder that is its home,
with the environment that it is given and nothing else.

Invariant: after `end` it is dead, with everything that it started and that did not leave its group. Nobody but this
process holds the other end of its standard input, so that it can see when the harness was killed.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from containers.sandbox import SandboxError

_PATH = "/usr/bin:/bin"
_READ = 1 << 16
_TICK = 0.02  # seconds between looks at whether it lives
_LAST = 5.0  # seconds for the last of its output, once it is dead


@dataclass(frozen=True)
class Program:
    """What is run. In `words` ({name} is replaced) may stand:

    {site}   the layer's Python packages
    {model}  path of the socket at which the model answers
    {link}   number of the descriptor of a stream socket, over which it asks for commands
    {home}   its folder, which is its current directory; `files` are put there first
    """

    words: tuple[str, ...]
    files: Mapping[str, bytes]
    env: Mapping[str, str]


class Process:
    """Runs `program`. `link` is our end of the socket; of each of its two streams `output` bytes are kept.

    Raises SandboxError when it cannot be started.
    """

    def __init__(self, program: Program, home: Path, places: Mapping[str, Path], output: int) -> None:
        self.link, theirs = socket.socketpair()
        try:
            for name, data in program.files.items():
                (home / name).write_bytes(data)
            values = {"home": str(home), "link": str(theirs.fileno()), **{name: str(p) for name, p in places.items()}}
            self._process = subprocess.Popen(
                [*_interpreter(), *(word.format_map(values) for word in program.words)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=home,
                env={"PATH": _PATH, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8", **program.env},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self.link.close()
            raise SandboxError(f"the agent's program cannot be started: {error.strerror or error}") from error
        finally:
            theirs.close()
        self._ended = False
        self.stdout, self.stderr = (Kept(stream, output) for stream in (self._process.stdout, self._process.stderr))

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        """Whether it runs. Who has ended keeps its number until `end`, which can then kill nobody else by it."""
        if self._ended:
            return False
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def wait(self, seconds: float) -> None:
        """Until it ended, or for so long."""
        until = time.monotonic() + seconds
        while self.alive() and time.monotonic() < until:
            time.sleep(_TICK)

    def status(self) -> int:
        """How it ended: its exit status, or a signal's number below 0. For a process that is dead."""
        return self._process.wait()

    def end(self) -> None:
        """Kill what still runs; safe to call twice."""
        if self._ended:
            return
        self._ended = True
        os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self.link.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self.stdout.finish()
        self.stderr.finish()


class Kept:
    """Reads a stream to its end in a thread of its own; the first `limit` bytes are kept, all are counted."""

    def __init__(self, stream: IO[bytes] | None, limit: int) -> None:
        assert stream is not None
        self._stream, self._limit = stream, limit
        self.data, self.size = bytearray(), 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait for the end, or a while where somebody else holds the stream open."""
        self._thread.join(_LAST)

    def _read(self) -> None:
        with self._stream:
            while piece := os.read(self._stream.fileno(), _READ):
                self.data += piece[: max(0, self._limit - len(self.data))]
                self.size += len(piece)


def _interpreter() -> tuple[str, ...]:
    """The one below any virtual environment, without packages of its own and without a trace of what it imports."""
    return str(getattr(sys, "_base_executable", sys.executable)), "-I", "-S", "-B"
