"""The agent protocol: run one session in a sandbox from (prompt, tree) and say what was done.

Invariant: an agent is given a `Task` and nothing of the plan around it; whatever it puts into the sandbox is in the
carry manifest, because the manifest is made from the very `Spec` that runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from containers.layer import Recipe
from containers.relay_usage import Dialect
from containers.sandbox import AGENT, MEMORY, TASK, WORK, Limits, Mount, Result, Sandbox, Spec
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
    """One session as an agent gets it. `tree` is a tar with a one-commit repository; `step` is 1, 2 or 3.

    `memory` is a tar of the directory in which the agent keeps its own notes (None: it must keep none, and its own
    memory is off); `tools` says that a memory answers over MCP (see `pull`).
    """

    step: int
    prompt: str
    tree: bytes
    reader: str
    limits: Limits
    script: Script = field(default_factory=Script)
    memory: bytes | None = None
    tools: bool = False


@dataclass(frozen=True)
class Needs:
    """What a session of an agent is given beside its task.

    dialect   in which it calls the model; None: it calls none
    recipe    the programs that stand in the layer; None: none
    pull      whether it can ask a memory over MCP
    files     whether it has a memory of its own that lives as files, and can be told to keep it at /memory
    outside   whether its program runs on the host, and only what the model asks for in the sandbox (see `Outside`)
    """

    dialect: Dialect | None = None
    recipe: Recipe | None = None
    pull: bool = False
    files: bool = False
    outside: bool = False


class Agent(Protocol):
    """`card` goes into the plan; `readers` says whether reader levels apply."""

    card: str
    needs: Needs
    own_fault: bool  # does a non-zero exit mean that our content broke, not that an agent failed?

    def spec(self, task: Task) -> Spec:
        """The one command of the session."""


@runtime_checkable
class Outside(Agent, Protocol):
    """An agent whose program runs on the host (`needs.outside`); the command of its session answers the program."""

    def drive(self, sandbox: Sandbox, spec: Spec) -> Result:
        """In the place of `sandbox.run(spec)`: the same, with exit and output of the program. Raises as that does."""


def session_spec(
    task: Task, command: tuple[str, ...], program: Mapping[str, File], env: Mapping[str, str] | None = None
) -> Spec:
    """A session's spec: the tree at /work, the prompt at /task, the agent's files read-only at /agent.

    The directory of an agent's own memory, where it has one, is at /memory and comes back.
    """
    mounts = {
        WORK: Mount(task.tree, writable=True),
        TASK: Mount(files_tar({"prompt.md": File(task.prompt.encode())})),
        AGENT: Mount(files_tar(dict(program))),
    }
    exports: tuple[str, ...] = (WORK,)
    if task.memory is not None:
        mounts[MEMORY] = Mount(task.memory, writable=True)
        exports = (WORK, MEMORY)
    return Spec(command=command, mounts=mounts, exports=exports, env=env or {}, limits=task.limits)


def read_program(folder: Path) -> dict[str, File]:
    """The files of an agent's program folder (hidden and cache folders left out)."""
    found: dict[str, File] = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(p.startswith(".") or p == "__pycache__" for p in parts):
            found["/".join(parts)] = File(path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found
