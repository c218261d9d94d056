"""`mini-swe-outside`: mini-swe-agent on the host, the commands that it asks for in the sandbox.

It is the program, with the settings, of `mini-swe`; what the model is told and gets back is the same, but for what the
program itself has inside: there is no layer, no way to the model, and no variables of its own.

Invariant: whatever the model asks for is run in the sandbox, which holds nothing but the tree and the prompt.
"""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path

from containers.sandbox import AGENT, TASK, TOOLS, Result, Sandbox, Spec
from harness.agents import inside, outside
from harness.agents.agent import Task, session_spec
from harness.agents.mini_swe import MiniSweAgent
from harness.agents.outside.driving import drive
from harness.agents.outside.process import Program
from harness.config import ModelConfig
from traps.fixtures import File

_SERVER = (Path(inside.__path__[0]) / "serve_commands.py").read_bytes()
_START = (Path(outside.__path__[0]) / "mini_swe.py").read_bytes()
_ENV = {"LITELLM_MODE": "PRODUCTION"}  # else it reads .env files in every folder above its own
_WORDS = ("{home}/start.py", "{home}", "{site}", "{model}", "{link}")


class MiniSweOutsideAgent(MiniSweAgent):
    """`mini-swe-outside`. Dialects: those of `mini-swe`."""

    def __init__(self, model: ModelConfig) -> None:
        super().__init__(model)
        self.needs = replace(self.needs, outside=True)
        self.card = f"mini-swe-outside (commands in the sandbox, the program on the host; {self.card})"

    def spec(self, task: Task) -> Spec:
        """See `Agent.spec`: what answers commands."""
        command = (f"{TOOLS}/bin/python3", "-I", "-B", f"{AGENT}/commands.py")
        return session_spec(task, command, {"commands.py": File(_SERVER)})

    def drive(self, sandbox: Sandbox, spec: Spec) -> Result:
        """See `Outside.drive`."""
        words = [word.replace("{", "{{").replace("}", "}}") for word in self._words]
        words += ["--output", "trajectory.json"]  # the last one holds
        files = {"start.py": _START, "prompt.md": _prompt(spec)}
        return drive(Program((*_WORDS, *words), files, self._env | _ENV), sandbox, spec)


def _prompt(spec: Spec) -> bytes:
    """As it stands in the sandbox."""
    with tarfile.open(fileobj=io.BytesIO(spec.mounts[TASK].tar)) as archive:
        file = archive.extractfile("prompt.md")
        assert file is not None
        return file.read()
