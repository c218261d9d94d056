"""Runs in the sandbox: carries out the commands of an agent that is outside, one after the other.

    stdin   one JSON object a line: {"command": text, "cwd": "" for this one's, "env": {...}, "seconds": number}
    stdout  first {"system", "node", "release", "version", "machine"}, then one line for each command:
            {"end": "done", "output": text, "status": exit status, or a signal below 0}
            {"end": "late", "output": what came until then}; it was killed with all of its process group
            {"end": "failed", "output": why it could not be started}

Invariant: one line is answered by one line of bounded length; a command has neither of the two streams.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import Any

KEPT = 1 << 18  # bytes of output that are kept from its start, and as many from its end
_READ = 1 << 16
_LAST = 1.0  # seconds for what a command that was killed had written, or somebody holds open

Json = dict[str, Any]


def main() -> None:
    """Answer until the input ends."""
    source, sink = os.dup(0), os.dup(1)  # which no command inherits
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    system = os.uname()
    names = ("system", "node", "release", "version", "machine")
    with open(source, "rb") as asked, open(sink, "wb") as told:
        _say(told, dict(zip(names, system, strict=True)))
        for line in asked:
            _say(told, _answer(json.loads(line)))


def _say(told: Any, answer: Mapping[str, object]) -> None:
    told.write(json.dumps(answer).encode() + b"\n")
    told.flush()


def _answer(request: Json) -> Json:
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", request["command"]],
            cwd=request["cwd"] or None,
            env={**os.environ, **request["env"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return {"end": "failed", "output": str(error)}
    assert process.stdout is not None
    output = _Output(process.stdout.fileno())
    with process.stdout:
        if _ended(process, output, time.monotonic() + request["seconds"]):
            return {"end": "done", "output": output.text(), "status": process.returncode}
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output.read(time.monotonic() + _LAST)
        process.wait()
        return {"end": "late", "output": output.text()}


def _ended(process: subprocess.Popen[bytes], output: _Output, deadline: float) -> bool:
    """Whether its output came to an end, and then the process, in time."""
    if not output.read(deadline):
        return False
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


class _Output:
    """What comes from a descriptor: all of it, or its start and its end."""

    def __init__(self, source: int) -> None:
        self._source, self._poll = source, select.poll()
        self._poll.register(source, select.POLLIN)
        self._start, self._end = bytearray(), bytearray()

    def read(self, deadline: float) -> bool:
        """Read to the end of the stream; False when the time was over before."""
        while (left := deadline - time.monotonic()) > 0:
            if not self._poll.poll(left * 1000):
                return False
            if not (piece := os.read(self._source, _READ)):
                return True
            room = KEPT - len(self._start)
            self._start += piece[:room]
            self._end += piece[room:]
            if len(self._end) > 2 * KEPT:
                del self._end[:-KEPT]
        return False

    def text(self) -> str:
        """As text with plain line ends."""
        text = bytes(self._start + self._end[-KEPT:]).decode("utf-8", "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")


if __name__ == "__main__":
    main()
