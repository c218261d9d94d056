"""`gemini`: Gemini CLI, run by the node of its layer, one `gemini --prompt` a session.

Its settings are copied into its home, since it takes a file of settings for all users from root's hands only.

Invariant: nothing of an earlier session and nothing of the host is there for it to read: its home is fresh, and
updates, statistics, telemetry, extensions, skills, hooks, background memory and tools of the net are off.
"""

from __future__ import annotations

import json
from dataclasses import replace

from containers.layer import LAYER, Recipe
from containers.relay_usage import Dialect
from containers.sandbox import AGENT, MEMORY, Spec
from harness.agents.agent import Needs, Task, session_spec
from harness.agents.endpoint import HOST_URL, NO_KEY, spoken
from harness.agents.pull import SERVER
from harness.config import ModelConfig
from traps.fixtures import File

PACKAGE = "@google/gemini-cli@0.61.0"
_PROGRAM = f"{LAYER}/node_modules/@google/gemini-cli/bundle/gemini.js"
_START = f'mkdir -p "$HOME/.gemini" && cp {AGENT}/settings.json "$HOME/.gemini/" && exec "$@"'
_ENV = {
    "GOOGLE_GEMINI_BASE_URL": HOST_URL,
    "GEMINI_API_KEY": NO_KEY,
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "GEMINI_CLI_NO_RELAUNCH": "true",  # else it starts itself again with a larger heap
    "GEMINI_TELEMETRY_ENABLED": "false",
    "NO_COLOR": "1",
}
_EXCLUDED = ("google_web_search", "web_fetch", "activate_skill", "invoke_agent", "enter_plan_mode")
#: What it otherwise asks of other models, by its names for that.
_ASIDES = (
    "classifier",
    "prompt-completion",
    "fast-ack-helper",
    "edit-corrector",
    "summarizer-default",
    "summarizer-shell",
    "loop-detection",
    "loop-detection-double-check",
    "llm-edit-fixer",
    "next-speaker-checker",
    "context-snapshotter",
    "chat-compression-default",
    "agent-history-provider-summarizer",
)


class GeminiAgent:
    """`gemini`, in its own dialect. Its own memory is a file of instructions, /memory/GEMINI.md."""

    own_fault = False
    needs = Needs(dialect=Dialect.GEMINI, recipe=Recipe(npm=(PACKAGE,), node=True), pull=True, files=True)

    def __init__(self, model: ModelConfig) -> None:
        spoken("gemini", model, Dialect.GEMINI)
        self._model = model.name
        self.card = (
            f"gemini ({PACKAGE}; model {model.name} for everything; all tools but those of the net, "
            "no skills, subagents or plans)"
        )

    def spec(self, task: Task) -> Spec:
        """See `Agent.spec`."""
        files = {"settings.json": File(json.dumps(_settings(self._model, task)).encode())}
        if task.tools:
            files["memory_server.py"] = File(SERVER)
        words = ("--model", self._model, "--approval-mode", "yolo", "--output-format", "stream-json", "--prompt", "")
        command = ("sh", "-c", _START, "sh", f"{LAYER}/bin/node", _PROGRAM, *words)
        return replace(session_spec(task, command, files, _ENV), stdin=task.prompt.encode())


def _settings(model: str, task: Task) -> dict[str, object]:
    settings: dict[str, object] = {
        "general": {
            "maxAttempts": 3,  # the relay is patient itself
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "sessionRetention": {"enabled": False},
        },
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "model": {"name": model},
        "ide": {"enabled": False},
        "skills": {"enabled": False},
        "hooksConfig": {"enabled": False},
        "admin": {"extensions": {"enabled": False}},
        "experimental": {"autoMemory": False, "enableAgents": False, "gemmaModelRouter": {"enabled": False}},
        "tools": {"exclude": list(_EXCLUDED)},
        "modelConfigs": {"customAliases": {name: _alias(model) for name in _ASIDES}},
    }
    if task.memory is not None:
        settings["context"] = {"includeDirectories": [MEMORY], "loadMemoryFromIncludeDirectories": True}
    if task.tools:
        command = {"command": "python3", "args": [f"{AGENT}/memory_server.py"], "trust": True}
        settings["mcpServers"] = {"memory": command}
    return settings


def _alias(model: str) -> dict[str, object]:
    return {"extends": "base", "modelConfig": {"model": model}}
