"""`command`: any program that reads a prompt file and works in the tree, with a model or without.

The words of the command may hold `{prompt}` (path of the prompt file) and, with a model, `{model}` (its name) and
`{url}` (the base URL inside, as programs of its dialect take it). Programs find the same in the environment variables
that they commonly read. Where the run lets it, a program can ask a memory over MCP (it starts /agent/memory_server.py)
or keep notes of its own in /memory.

Invariant: the program's folder is put read-only at /agent as it is, and is the only thing of the host that enters; the
key in the environment is a word that opens nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from containers.relay_usage import Dialect
from containers.sandbox import Spec
from harness.agents.agent import PROMPT, Needs, Task, read_program, session_spec
from harness.agents.endpoint import HOST_URL, NO_KEY, V1_URL, spoken
from harness.agents.pull import SERVER
from harness.config import ModelConfig
from harness.outcome import UsageFault
from traps.fixtures import File

_URLS = {
    Dialect.CHAT: V1_URL,
    Dialect.RESPONSES: V1_URL,
    Dialect.ANTHROPIC: HOST_URL,
    Dialect.GEMINI: HOST_URL,
}
_OPENAI = {"OPENAI_BASE_URL": V1_URL, "OPENAI_API_BASE": V1_URL, "OPENAI_API_KEY": NO_KEY}
_ENVIRONMENT: Mapping[Dialect, Mapping[str, str]] = {
    Dialect.CHAT: _OPENAI,
    Dialect.RESPONSES: _OPENAI,
    Dialect.ANTHROPIC: {"ANTHROPIC_BASE_URL": HOST_URL, "ANTHROPIC_API_KEY": NO_KEY},
    Dialect.GEMINI: {"GOOGLE_GEMINI_BASE_URL": HOST_URL, "GEMINI_API_KEY": NO_KEY},
}


class CommandAgent:
    """Runs `words` in the tree, every session alike. With a `model` one endpoint answers inside."""

    own_fault = False

    def __init__(self, words: tuple[str, ...], folder: Path | None, model: ModelConfig | None = None) -> None:
        if not words:
            raise UsageFault("agent.command: the command agent needs the words of a command")
        if folder is not None and not folder.is_dir():
            raise UsageFault(f"agent.program: {folder}: no such folder")
        if model is None and (name := next((n for n in ("{model}", "{url}") if any(n in w for w in words)), "")):
            raise UsageFault(f"agent.command: {name} stands in the command, but model.name is not set")
        self._program = read_program(folder) if folder else {}
        self._filled, self._env = {"{prompt}": PROMPT}, dict[str, str]()
        total = hashlib.sha256()
        for path, file in self._program.items():
            total.update(f"{path}:{len(file.data)}:".encode() + file.data)
        self.card = f"command {' '.join(words)} (program {total.hexdigest()[:16]})"
        self.needs = Needs()
        if model is not None:
            dialect = spoken("command", model, *Dialect)
            self.needs = Needs(dialect=dialect, pull=True, files=True)
            self._filled |= {"{model}": model.name, "{url}": _URLS[dialect]}
            self._env = dict(_ENVIRONMENT[dialect])
            self.card += f"; model {model.name}, {dialect}"
        self._words = words

    def spec(self, task: Task) -> Spec:
        command = tuple(_fill(word, self._filled) for word in self._words)
        program = {**self._program, "memory_server.py": File(SERVER)} if task.tools else self._program
        return session_spec(task, command, program, self._env)


def _fill(word: str, values: Mapping[str, str]) -> str:
    """The word with the names in it replaced, each where it stands at first: a value is never looked into."""
    found = sorted((word.find(name), name) for name in values if name in word)
    if not found:
        return word
    before, name, after = word.partition(found[0][1])
    return before + values[name] + _fill(after, values)
