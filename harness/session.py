"""One session: what goes in (and its carry manifest), the agent's command, what comes out, the public check.

Invariant: the manifest is made from the `Spec` that runs, so nothing can enter a sandbox and be absent from it; the
tree that comes out is read as data and stored before anything else looks at it.
"""

from __future__ import annotations

import hashlib
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from containers.layer import LAYER, Layer
from containers.sandbox import MEMORY, MIB, WORK, Dropped, Limits, Mount, Result, Sandbox, Spec
from harness.agents.agent import Agent, Outside, Task
from harness.agents.pull import Pull
from harness.config import RunConfig
from harness.delta import is_cache
from harness.door import Door, Used
from harness.objects import ObjectStore
from harness.once import Once
from harness.outcome import Boundary, Fault
from harness.records import Carried, CheckRecord
from harness.snapshot import Entry, Snapshot, from_tar, to_tar, tree_id

_OUTPUT_KEPT = 4000
_ROOM_PER_FILE = 12_800  # bytes of disk for each file that may come out: a page, and as much again for its entries


@dataclass(frozen=True)
class Finished:
    """A session that is over. `tree` is what the agent left; `cut_short` says that a capture limit was hit.

    `memory` is what stands in the directory in which the agent keeps its own notes, where it has one.
    """

    result: Result
    tree: Mapping[bytes, Entry]
    tree_id: str
    carried: tuple[Carried, ...]
    dropped: tuple[str, ...]
    cut_short: str
    seconds: float
    used: Used = field(default_factory=Used)
    memory: Snapshot | None = None
    memory_bytes: int = 0  # of that directory, as it went in


def session_limits(config: RunConfig) -> Limits:
    """What one session or public check may use."""
    own = config.limits
    return Limits(own.wall, own.memory_mib * MIB, own.processes, disk=own.disk_mib * MIB)


class CheckMemo:
    """Public checks of this run by (tree, command): the same tree is checked once. Thread-safe."""

    def __init__(self) -> None:
        self._once: Once[CheckRecord] = Once()

    def run(self, sandbox: Sandbox, tree: Snapshot, command: tuple[str, ...], limits: Limits) -> CheckRecord:
        """Check a tree without its caches, or repeat what the same check said of the same tree."""
        clean = {path: entry for path, entry in tree.items() if not is_cache(path)}
        key = (tree_id(clean), command)
        found, shared = self._once.get(key, lambda: public_check(sandbox, clean, command, limits))
        return found.model_copy(update={"shared": shared})


def run_session(
    sandbox: Sandbox,
    store: ObjectStore,
    agent: Agent,
    task: Task,
    memory_text: str,
    door: Door | None = None,
    pull: Pull | None = None,
) -> Finished:
    """Run one session. Raises SandboxError when the sandbox broke, Fault when its export cannot be read.

    `door` is the way to the model, and to the programs, of an agent that needs some; `pull` answers what it asks a
    memory meanwhile.
    """
    begun = time.perf_counter()
    spec = agent.spec(task)
    spec = replace(spec, limits=_returning(spec.limits, len(task.tree)))
    door = door or Door()
    with door.visit(spec.limits.wall, (pull.local(),) if pull else ()) as visit:
        whole = replace(spec, endpoint=visit.endpoint, layer=door.layer)
        work = partial(_played, agent, sandbox, whole)
        result = pull.during(work) if pull else work()
        used = visit.used()
    tree, refused = _exported(result, WORK)
    memory = None if task.memory is None else _exported(result, MEMORY)[0]
    capped = [d for d in result.dropped if d.cap]
    dropped = tuple(f"{d.path}: {d.why}" for d in (*result.dropped, *refused))[:200]
    cut_short = f"{capped[0].path}: {capped[0].why}" if capped else ""
    stored = "" if cut_short else store.put(tree)
    carried = manifest(spec, task, memory_text, door.layer)
    seconds = time.perf_counter() - begun
    return Finished(result, tree, stored, carried, dropped, cut_short, seconds, used, memory, _bytes_in(task))


def _played(agent: Agent, sandbox: Sandbox, spec: Spec) -> Result:
    return agent.drive(sandbox, spec) if isinstance(agent, Outside) else sandbox.run(spec)


def _bytes_in(task: Task) -> int:
    """Bytes of the notes that an agent finds in its directory."""
    if task.memory is None:
        return 0
    return sum(len(entry.data) for entry in from_tar(task.memory)[0].values())


def _exported(result: Result, path: str) -> tuple[Mapping[bytes, Entry], Sequence[Dropped]]:
    try:
        return from_tar(result.exports.get(path, b""))
    except tarfile.TarError as error:
        raise Fault(Boundary.SANDBOX, f"the exported tree is no tar stream: {error}") from error


def _returning(limits: Limits, start: int) -> Limits:
    """Limits under which all that comes out fits in again, beside its repository, when the next session starts.

    `start` is the size of the tar that goes in. What is too much for that is the capture limit of the agent who
    left it; met only at the next start, it would look like trouble of ours.
    """
    room = max(limits.disk - start, 0)
    files, total = start // tarfile.BLOCKSIZE + room // _ROOM_PER_FILE, start + room // 4
    return limits.but(
        export_files=min(limits.export_files, files),
        export_file=min(limits.export_file, total),
        export_total=min(limits.export_total, total),
    )


def manifest(spec: Spec, task: Task, memory_text: str, layer: Layer | None = None) -> tuple[Carried, ...]:
    """What enters the sandbox: every mount, the command and environment, and the memory part of the prompt.

    Of a layer, which is the same for all sessions, the digest of its contents stands there, and no size.
    """
    rows = [_carried(f"mount {path}", mount.tar) for path, mount in sorted(spec.mounts.items())]
    rows.append(_carried("prompt", task.prompt.encode()))
    rows.append(_carried("memory in prompt", memory_text.encode()))
    rows.append(_carried("command", "\0".join(spec.command).encode()))
    rows.append(_carried("environment", "\0".join(f"{k}={v}" for k, v in sorted(spec.env.items())).encode()))
    if layer is not None:
        rows.append(Carried(name=f"layer {LAYER}", bytes=0, sha256=layer.digest))
    return tuple(rows)


def _carried(name: str, data: bytes) -> Carried:
    return Carried(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


def public_check(sandbox: Sandbox, tree: Snapshot, command: tuple[str, ...], limits: Limits) -> CheckRecord:
    """Run a session's public check on a tree in a sandbox of its own: the warm-up outcome, never a verdict."""
    begun = time.perf_counter()
    spec = Spec(command=command, mounts={WORK: Mount(to_tar(tree), writable=True)}, limits=limits)
    result = sandbox.run(spec)
    text = (result.stdout + result.stderr).decode("utf-8", "replace")
    return CheckRecord(
        passed=result.exit == 0 and not result.timed_out,
        exit=result.exit,
        output=text[-_OUTPUT_KEPT:],
        seconds=round(time.perf_counter() - begun, 4),
        shared=False,
    )
