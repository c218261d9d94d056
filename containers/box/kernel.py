"""What process 1 asks the kernel: one process control, and which limits were reached.

Invariant: only counters that the kernel keeps are believed; where there is none, nothing is claimed.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

PR_SET_DUMPABLE = 4


def prctl(option: int, value: int) -> None:
    """One integer process control. Raises OSError."""
    if ctypes.CDLL(None).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(f"prctl {option} refused")


def limits_hit(mounts: list[str]) -> Iterator[str]:
    """Names of limits whose counters say that they were reached."""
    if counter(("memory/memory.oom_control", "memory.events"), "oom_kill"):
        yield "memory"
    if counter(("pids/pids.events", "pids.events"), "max"):
        yield "processes"
    space = [os.statvfs(path) for path in mounts]
    if any(place.f_bavail == 0 for place in space):
        yield "disk"
    if any(place.f_favail == 0 for place in space):
        yield "inodes"


def counter(files: tuple[str, ...], key: str) -> int:
    """A counter of the control group, from the first file there is (old and new layout); 0 without any."""
    for name in files:
        try:
            with open(f"/sys/fs/cgroup/{name}") as file:
                pairs = [line.split() for line in file]
        except OSError:
            continue
        return sum(int(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == key)
    return 0
