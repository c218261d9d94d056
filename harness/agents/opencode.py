"""`opencode`: the native program of its package, one `opencode run` a session.

Its folder of configurations stands at /agent, where it cannot write: in one of its own it would install packages.

Invariant: its one provider is the relay, and nothing of an earlier session and nothing of the host is there for it to
read: its home is fresh, and updates, sharing, the list of models, downloads of language servers, plugins, tools of the
net and the files of other agents are off.
"""

from __future__ import annotations

import json
from dataclasses import replace

from containers.layer import LAYER, Recipe
from containers.relay_usage import Dialect
from containers.sandbox import AGENT, MEMORY, Spec
from harness.agents.agent import Needs, Task, session_spec
from harness.agents.endpoint import NO_KEY, V1_URL, spoken
from harness.agents.pull import SERVER
from harness.config import ModelConfig
from traps.fixtures import File

PACKAGE = "opencode-ai@1.18.33"
_PROGRAM = f"{LAYER}/node_modules/opencode-linux-x64/bin/opencode"
_PROVIDER = "local"
_OFF = (
    "AUTOUPDATE",
    "MODELS_FETCH",
    "LSP_DOWNLOAD",
    "DEFAULT_PLUGINS",
    "CLAUDE_CODE",
    "EXTERNAL_SKILLS",
    "PRUNE",
    "TERMINAL_TITLE",
)
_ENV = {**{f"OPENCODE_DISABLE_{name}": "1" for name in _OFF}, "XDG_CONFIG_HOME": AGENT}


class OpencodeAgent:
    """`opencode`, in the chat dialect. Its own memory is a file of instructions, /memory/AGENTS.md."""

    own_fault = False
    needs = Needs(dialect=Dialect.CHAT, recipe=Recipe(npm=(PACKAGE,)), pull=True, files=True)

    def __init__(self, model: ModelConfig) -> None:
        spoken("opencode", model, Dialect.CHAT)
        self._model = model.name
        self.card = (
            f"opencode ({PACKAGE}; chat; model {model.name}; all tools but those of the net, "
            "no plugins, language servers, formatters or snapshots)"
        )

    def spec(self, task: Task) -> Spec:
        """See `Agent.spec`."""
        files = {"opencode/opencode.json": File(json.dumps(self._config(task)).encode())}
        files["opencode/.gitignore"] = File(b"")  # it would write one, and cannot
        if task.tools:
            files["memory_server.py"] = File(SERVER)
        command = (_PROGRAM, "run", "--format", "json", "--title", "session", "--model", f"{_PROVIDER}/{self._model}")
        return replace(session_spec(task, command, files, _ENV), stdin=task.prompt.encode())

    def _config(self, task: Task) -> dict[str, object]:
        name = f"{_PROVIDER}/{self._model}"
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": _PROVIDER,
            "options": {"baseURL": V1_URL, "apiKey": NO_KEY},
            "models": {self._model: {"name": self._model}},
        }
        config: dict[str, object] = {
            "model": name,
            "small_model": name,
            "provider": {_PROVIDER: provider},
            "enabled_providers": [_PROVIDER],
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "lsp": False,
            "formatter": False,
            "permission": {"*": "allow", "webfetch": "deny", "websearch": "deny", "question": "deny"},
        }
        if task.memory is not None:
            config["instructions"] = [f"{MEMORY}/AGENTS.md"]
        if task.tools:
            command = ["python3", f"{AGENT}/memory_server.py"]
            config["mcp"] = {"memory": {"type": "local", "command": command, "enabled": True}}
        return config
