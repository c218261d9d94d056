"""A driver that dies on demand: reads jobs from stdin, runs each in a fork of itself, says how it ended.

A job is one line of JSON: {"out", "notes", "words", "base", "kill": [point, n] or null, "fill"}. The child prepares
and executes the run; at the n-th occurrence of the point it writes its descendants to `<notes>.children` and kills
itself with SIGKILL; `<notes>.pid` is for those who would do that from outside. With "fill": [point, n] it fills the
disk of the run directory at that point, and goes on. The reply is one line of JSON: {"signal", "exit", "said"}.
Imports are paid once, which is all that the fork is for.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from harness.config import load
from harness.outcome import Fault, UsageFault
from harness.run import execute, prepare


def descendants(pid: int) -> list[tuple[int, str]]:
    """(pid, start time) of everything below `pid`."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            rest = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        parents.setdefault(int(rest[1]), []).append((int(folder.name), rest[19]))
    found, queue = [], [pid]
    while queue:
        below = parents.get(queue.pop(), [])
        found += below
        queue += [p for p, _ in below]
    return found


class Trouble:
    """Kills this process, or fills its disk, at the n-th occurrence of a point."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._out, self._notes = Path(job["out"]), job["notes"]
        self._kill, self._fill = job["kill"], job["fill"]
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def reach(self, point: str) -> None:
        with self._lock:
            self._seen[point] += 1
            if self._kill == [point, self._seen[point]]:
                Path(self._notes + ".children").write_text(json.dumps(descendants(os.getpid())))
                os.kill(os.getpid(), signal.SIGKILL)
            if self._fill == [point, self._seen[point]]:
                fill(self._out.with_name("ballast"))


def fill(ballast: Path) -> None:
    """Take every byte that is left on the disk."""
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise


def drive(job: dict[str, Any]) -> int:
    out, said = Path(job["out"]), Path(job["notes"] + ".said")
    Path(job["notes"] + ".pid").write_text(str(os.getpid()))
    try:
        execute(prepare(load(None, job["words"], job["base"]), out), lambda record: None, Trouble(job).reach)
    except (UsageFault, Fault) as error:
        said.write_text(str(error))
        return 1 if isinstance(error, UsageFault) else 2
    except BaseException:
        said.write_text(traceback.format_exc())
        return 70
    return 0


def serve() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        said = Path(job["notes"] + ".said")
        said.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            os._exit(drive(job))
        _, status = os.waitpid(child, 0)
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        text = said.read_text() if said.exists() else ""
        print(json.dumps({"signal": died, "exit": code, "said": text}), flush=True)


if __name__ == "__main__":
    serve()
