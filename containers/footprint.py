"""How much memory a sandbox uses, measured from outside, for hosts that offer no cgroup.

Invariant: what is counted is an upper bound first (cheap) and the proportional share only when that is over the
limit, so that shared pages do not end a run that is within it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol


class HasInit(Protocol):
    """Something that knows the first process inside, by its number out here (0 = not known yet)."""

    init_pid: int


class Footprint:
    """Callable: whether the processes below `run.init_pid` plus the files of `places` are within `limit` bytes."""

    def __init__(self, run: HasInit, places: list[str], limit: int) -> None:
        self._run, self._places, self._limit = run, places, limit

    def __call__(self) -> bool:
        if self._run.init_pid == 0:
            return True
        files = sum(_used(place) for place in self._places)
        processes = list(_descendants(self._run.init_pid))
        if files + sum(map(_resident, processes)) <= self._limit:
            return True
        return files + sum(map(_proportional, processes)) <= self._limit


def _used(place: str) -> int:
    space = os.statvfs(place)
    return (space.f_blocks - space.f_bfree) * space.f_frsize


def _descendants(pid: int) -> Iterator[int]:
    """`pid` and everything below it; orphans inside are children of its first process, so none is missed."""
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        yield current
        for path in _threads(current):
            waiting.extend(int(child) for child in _text(path / "children").split())


def _threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []  # it has just died


def _resident(pid: int) -> int:
    fields = _text(Path(f"/proc/{pid}/statm")).split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else 0


def _proportional(pid: int) -> int:
    for line in _text(Path(f"/proc/{pid}/smaps_rollup")).splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
