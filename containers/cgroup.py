"""Memory and process-count limits by cgroup, where the harness may make cgroups (version 1 or 2).

One group per worker, used by its sandboxes one after the other. The harness makes, reads and removes it; a
fork server gets an open descriptor only, through which the sandboxed process enters before it starts.

Invariant: a group of ours is named after the process that owns it; it is removed by that process, or, when it
was killed, by the next one that looks. A group of a living process is never touched by another.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path

_PREFIX = "dreambench"
_REMOVE_TIMEOUT = 5.0
_OWN_PROCESSES = 4  # bwrap, its first process inside, and the child that waits for the next run


@dataclass(frozen=True)
class _Hierarchy:
    """A directory in which we may make groups, and the file names of its version."""

    parent: Path
    version: int
    controllers: tuple[str, ...]  # of "memory", "pids"


@dataclass
class Group:
    """The groups of one worker, one in each hierarchy that is used (version 1 has one for memory, one for pids)."""

    members: list[tuple[_Hierarchy, Path]] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)  # of cgroup.procs, opened while privileged

    @property
    def controllers(self) -> frozenset[str]:
        """The limits that this group enforces: of "memory" and "pids"."""
        return frozenset(name for hierarchy, _ in self.members for name in hierarchy.controllers)

    def limit(self, memory: int, processes: int) -> None:
        """Set the limits for the next sandbox; bytes and a count."""
        for hierarchy, path in self.members:
            if "memory" in hierarchy.controllers:
                _set_memory(hierarchy.version, path, memory)
            if "pids" in hierarchy.controllers:
                (path / "pids.max").write_text(str(processes + _OWN_PROCESSES))

    def counters(self) -> dict[str, int]:
        """How often a limit was hit so far: "memory" (processes killed), "processes" (forks refused)."""
        found = {}
        for hierarchy, path in self.members:
            if "memory" in hierarchy.controllers:
                name = "memory.events" if hierarchy.version == 2 else "memory.oom_control"
                found["memory"] = _field(path / name, "oom_kill")
            if "pids" in hierarchy.controllers:
                found["processes"] = _field(path / "pids.events", "max")
        return found

    def remove(self) -> None:
        """Remove the groups; waits up to five seconds for what is dying in them."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()
        deadline = time.monotonic() + _REMOVE_TIMEOUT
        for _, path in self.members:
            while path.exists():
                try:
                    path.rmdir()
                except OSError:
                    if time.monotonic() > deadline:
                        break  # swept by the next start
                    time.sleep(0.01)
        self.members.clear()


def make_group() -> Group | None:
    """A fresh group below this process' own, or None where none can be made or has no memory limit."""
    name = f"{_PREFIX}-{os.getpid()}-{_start_time(os.getpid())}-{secrets.token_hex(4)}"
    group = Group()
    for hierarchy in _hierarchies():
        path = hierarchy.parent / name
        try:
            path.mkdir()
            group.members.append((hierarchy, path))
            group.descriptors.append(os.open(path / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        except OSError:
            continue
    if "memory" in group.controllers and _works(group):
        return group
    group.remove()
    return None


def sweep() -> int:
    """Remove the empty groups of dead owners; the number of those removed."""
    removed = 0
    for hierarchy in _hierarchies():
        for path in hierarchy.parent.glob(f"{_PREFIX}-*"):
            parts = path.name.split("-")
            if len(parts) != 4 or not (parts[1].isdigit() and parts[2].isdigit()):
                continue  # not of ours
            if _start_time(int(parts[1])) != int(parts[2]):
                with contextlib.suppress(OSError):  # not empty yet: something in it is still dying
                    path.rmdir()
                    removed += 1
    return removed


def _works(group: Group) -> bool:
    try:
        group.limit(64 << 20, 16)
        group.counters()
    except OSError:
        return False
    return True


def _hierarchies() -> list[_Hierarchy]:
    if os.geteuid() != 0:
        return []  # a delegated group would do as well, but moving into it needs rights over the ancestor
    own = _own_paths()
    found: list[_Hierarchy] = []
    for mount, kind, options in _mounts():
        version = 2 if kind == "cgroup2" else 1
        names: tuple[str, ...] = tuple(name for name in ("memory", "pids") if name in options)
        if version == 2:
            place = mount / own.get("", "/").lstrip("/")
            for parent in (place, mount):
                names = _enabled(parent)
                if names:
                    break
        else:
            parent = mount / own.get(names[0], "/").lstrip("/") if names else mount
            parent = parent if parent.is_dir() else mount
        taken = {name for hierarchy in found for name in hierarchy.controllers}
        names = tuple(name for name in names if name not in taken)
        if names and os.access(parent, os.W_OK):
            found.append(_Hierarchy(parent, version, names))
    return found


def _enabled(parent: Path) -> tuple[str, ...]:
    """The controllers that children of a version 2 group have."""
    try:
        present = (parent / "cgroup.subtree_control").read_text().split()
    except OSError:
        return ()
    return tuple(name for name in ("memory", "pids") if name in present)


def _own_paths() -> dict[str, str]:
    """Controller -> path of this process' group; "" for version 2."""
    paths = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            paths[name] = path
    return paths


def _mounts() -> list[tuple[Path, str, tuple[str, ...]]]:
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            found.append((Path(left.split(" ")[4]), kind, tuple(options.split(","))))
    return found


def _set_memory(version: int, path: Path, memory: int) -> None:
    if version == 2:
        (path / "memory.max").write_text(str(memory))
        with contextlib.suppress(FileNotFoundError):  # a kernel without swap accounting
            (path / "memory.swap.max").write_text("0")
        return
    limit, both = path / "memory.limit_in_bytes", path / "memory.memsw.limit_in_bytes"
    with contextlib.suppress(OSError):  # what the last sandbox left in the page cache
        (path / "memory.force_empty").write_text("0")
    swap = both.exists()
    if swap:
        both.write_text("-1")  # memory may never be set above memory plus swap
    limit.write_text(str(memory))
    if swap:
        both.write_text(str(memory))


def _field(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def _start_time(pid: int) -> int:
    """When the process started (clock ticks since boot), or -1: a pid alone is used again."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return -1
    return int(text.rpartition(")")[2].split()[19])
