"""`codex`: Codex CLI, the native program of its package, one `codex exec` a session.

Invariant: nothing of an earlier session and nothing of the host is there for it to read: its home is fresh, its own
memory, history, plugins and telemetry are off, and what it is told by switches is all in the card.
"""

from __future__ import annotations

import json
import platform
from dataclasses import replace

from containers.layer import LAYER, Recipe
from containers.relay_usage import Dialect
from containers.sandbox import AGENT, MEMORY, Spec
from harness.agents.agent import Needs, Task, session_spec
from harness.agents.endpoint import NO_KEY, V1_URL, spoken
from harness.agents.pull import SERVER
from harness.config import ModelConfig
from harness.outcome import UsageFault
from traps.fixtures import File

PACKAGE = "@openai/codex@0.171.0"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}  # as the kernel and as npm call them
_KEY = "MODEL_KEY"  # the variable in which it looks for a key
_PROVIDER = {
    "name": "relay",
    "base_url": V1_URL,
    "env_key": _KEY,
    "wire_api": "responses",
    "request_max_retries": 2,  # the relay has tried again before it answers with an error
    "stream_max_retries": 2,
}
#: What would reach out, carry something over, or bring in what is not of the session.
_OFF = (
    *("apps", "plugins", "remote_plugin", "plugin_sharing", "tool_suggest", "skill_search"),
    *("skill_mcp_dependency_install", "api_key_model_discovery", "daemon_auto_start", "in_app_updates"),
    *("memories", "external_agent_memory_import", "unbounded_connection_retries"),
)
_SETTINGS = {
    "check_for_update_on_startup": False,
    "analytics.enabled": False,
    "feedback.enabled": False,
    "otel.metrics_exporter": "none",
    "history.persistence": "none",
    "web_search": "disabled",
    "skills.bundled.enabled": False,
    "allow_login_shell": False,  # a login shell of docker's image has a PATH of its own
    "model_provider": "relay",
    **{f"model_providers.relay.{name}": value for name, value in _PROVIDER.items()},
}
_FLAGS = ("--json", "--ephemeral", "--strict-config", "--dangerously-bypass-approvals-and-sandbox")
#: Its home has one file, a link to its notes: it reads them as its user's own AGENTS.md, in every session.
_WITH_NOTES = f'mkdir -p "$HOME/.codex" && ln -s {MEMORY}/AGENTS.md "$HOME/.codex/AGENTS.md" && exec "$@"'


def program(machine: str) -> str:
    """Where the package has it in a layer. Raises UsageFault for a machine that it is not built for."""
    if machine not in _MACHINES:
        raise UsageFault(f"agent.name: there is no codex for {machine!r}")
    package = f"{LAYER}/node_modules/@openai/codex-linux-{_MACHINES[machine]}"
    return f"{package}/vendor/{machine}-unknown-linux-musl/bin/codex"


class CodexAgent:
    """`codex`. Dialect: responses.

    Its memory as files is AGENTS.md at /memory: what stands there is read at the start of every session as the
    user's own instructions, and it writes there as to any file. Its feature "memories", which is made from sessions
    in the background after hours, is off in every condition.
    """

    own_fault = False

    def __init__(self, model: ModelConfig) -> None:
        dialect = spoken("codex", model, Dialect.RESPONSES)
        self.needs = Needs(dialect=dialect, recipe=Recipe(npm=(PACKAGE,)), pull=True, files=True)
        self._words = [program(platform.machine()), "exec", *_FLAGS, f"--model={model.name}"]
        for name in _OFF:
            self._words += ["--disable", name]
        for name, value in _SETTINGS.items():
            self._words += ["--config", f"{name}={json.dumps(value)}"]
        self.card = f"codex ({PACKAGE}; {dialect}; {' '.join(self._words[2:])})"

    def spec(self, task: Task) -> Spec:
        """See `Agent.spec`."""
        words, files = list(self._words), dict[str, File]()
        if task.tools:
            server = {"command": "python3", "args": [f"{AGENT}/memory_server.py"]}
            for name, value in server.items():
                words += ["--config", f"mcp_servers.memory.{name}={json.dumps(value)}"]
            files["memory_server.py"] = File(SERVER)
        if task.memory is not None:
            words = ["sh", "-c", _WITH_NOTES, "sh", *words]
        spec = session_spec(task, (*words, "-"), files, {_KEY: NO_KEY})
        return replace(spec, stdin=task.prompt.encode())
