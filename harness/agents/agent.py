"""The agent protocol: run one session in a sandbox from (prompt, tree) and say what was done.

Invariant: an agent is given a `Task` and nothing of the plan around it; whatever it puts into the sandbox is in the
carry manifest, because the manifest is made from the very `Spec` that runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from containers.sandbox import AGENT, TASK, WORK, Limits, Mount, Spec
from harness.snapshot import Snapshot
from traps.fixtures import File
from traps.fixtures import to_tar as files_tar

PROMPT = f"{TASK}/prompt.md"


@dataclass(frozen=True)
class Script:
    """What instruments know beyond an agent: the playbook, and the overlay a solution puts over S3's tree."""

    playbook: bytes = b""
    solution: Snapshot | None = None


@dataclass(frozen=True)
class Task:
    """One session as an agent gets it. `tree` is a tar with a one-commit repository; `step` is 1, 2 or 3."""

    step: int
    prompt: str
    tree: bytes
    reader: str
    limits: Limits
    script: Script = field(default_factory=Script)


class Agent(Protocol):
    """`card` goes into the plan; `readers` says whether reader levels apply."""

    card: str
    own_fault: bool  # does a non-zero exit mean that our content broke, not that an agent failed?

    def spec(self, task: Task) -> Spec:
        """The one command of the session."""


def session_spec(task: Task, command: tuple[str, ...], program: Mapping[str, File]) -> Spec:
    """A session's spec: the tree at /work, the prompt at /task, the agent's files read-only at /agent."""
    return Spec(
        command=command,
        mounts={
            WORK: Mount(task.tree, writable=True),
            TASK: Mount(files_tar({"prompt.md": File(task.prompt.encode())})),
            AGENT: Mount(files_tar(dict(program))),
        },
        exports=(WORK,),
        limits=task.limits,
    )


def read_program(folder: Path) -> dict[str, File]:
    """The files of an agent's program folder (hidden and cache folders left out)."""
    found: dict[str, File] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(p.startswith(".") or p == "__pycache__" for p in parts):
            found["/".join(parts)] = File(path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found
