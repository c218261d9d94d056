"""`command`: any program that reads a prompt file and works in the tree.

The words of the command may hold `{prompt}` (path of the prompt file). Invariant: the program's folder is put
read-only at /agent as it is, and is the only thing of the host that enters.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from containers.sandbox import Spec
from harness.agents.agent import PROMPT, Task, read_program, session_spec
from harness.outcome import UsageFault


class CommandAgent:
    """Runs `words` in the tree, every session alike."""

    own_fault = False

    def __init__(self, words: tuple[str, ...], folder: Path | None) -> None:
        if not words:
            raise UsageFault("agent.command: the command agent needs the words of a command")
        if folder is not None and not folder.is_dir():
            raise UsageFault(f"agent.program: {folder}: no such folder")
        self._words = words
        self._program = read_program(folder) if folder else {}
        total = hashlib.sha256()
        for path, file in self._program.items():
            total.update(f"{path}:{len(file.data)}:".encode() + file.data)
        self.card = f"command {' '.join(words)} (program {total.hexdigest()[:16]})"

    def spec(self, task: Task) -> Spec:
        command = tuple(word.replace("{prompt}", PROMPT) for word in self._words)
        return session_spec(task, command, self._program)
