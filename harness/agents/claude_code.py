"""`claude-code`: Claude Code, the native program of its package, one `claude --print` a session.

Invariant: nothing of an earlier session and nothing of the host is there for it to read: its home is fresh, its own
memory, plugins, skills and telemetry are off, every call it makes names the one model, and what it is told by
switches is all in the card.
"""

from __future__ import annotations

import json
import platform
from dataclasses import replace

from containers.layer import LAYER, Recipe
from containers.relay_usage import Dialect
from containers.sandbox import AGENT, MEMORY, Spec
from harness.agents.agent import Needs, Task, session_spec
from harness.agents.endpoint import HOST_URL, NO_KEY, spoken
from harness.agents.pull import SERVER
from harness.config import ModelConfig
from harness.outcome import UsageFault
from traps.fixtures import File

PACKAGE = "@anthropic-ai/claude-code@2.1.332"
_MACHINES = {"x86_64": "x64", "aarch64": "arm64"}  # as the kernel and as npm call them
_NO_TOOLS = (
    *("WebFetch", "WebSearch"),  # the second is run by the endpoint, which has a network
    *("ScheduleWakeup", "CronCreate", "CronDelete", "CronList", "Monitor"),  # keep a session alive that is done
    *("EnterWorktree", "ExitWorktree"),  # to work in another tree than the one that comes out
)
_FLAGS = (
    *("--print", "--output-format=stream-json", "--verbose", "--dangerously-skip-permissions"),
    *("--no-session-persistence", "--disable-slash-commands", "--strict-mcp-config", "--no-chrome"),
    f"--disallowed-tools={','.join(_NO_TOOLS)}",
)
_SWITCHES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_GROWTHBOOK": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_UPDATES": "1",
    "ENABLE_CLAUDEAI_MCP_SERVERS": "false",
    "ENABLE_TOOL_SEARCH": "false",  # else a tool has to be found before it can be called
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_SUBAGENT_MODEL_FORCE": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",  # the relay has tried again before it answers with an error
}
#: Where it may choose another model than it was told to: for small things, and for those it hands work to.
_CHOICES = ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL")
_NO_MEMORY = {"autoMemoryEnabled": False, "autoDreamEnabled": False}
_MEMORY = {"autoMemoryEnabled": True, "autoMemoryDirectory": MEMORY, "autoDreamEnabled": False}
_SERVERS = {"mcpServers": {"memory": {"type": "stdio", "command": "python3", "args": [f"{AGENT}/memory_server.py"]}}}


def program(machine: str) -> str:
    """Where the package has it in a layer. Raises UsageFault for a machine that it is not built for."""
    if machine not in _MACHINES:
        raise UsageFault(f"agent.name: there is no claude-code for {machine!r}")
    return f"{LAYER}/node_modules/@anthropic-ai/claude-code-linux-{_MACHINES[machine]}/claude"


class ClaudeCodeAgent:
    """`claude-code`. Dialect: anthropic.

    Its memory as files is its own "auto memory", moved to /memory: it is told of it in its system prompt, keeps a
    file a fact there, and reads MEMORY.md, their index, at the start of every session. Off, it is told nothing of it.
    """

    own_fault = False

    def __init__(self, model: ModelConfig) -> None:
        dialect = spoken("claude-code", model, Dialect.ANTHROPIC)
        self.needs = Needs(dialect=dialect, recipe=Recipe(npm=(PACKAGE,)), pull=True, files=True)
        self._words = (program(platform.machine()), *_FLAGS, f"--model={model.name}")
        self._env = {"ANTHROPIC_BASE_URL": HOST_URL, "ANTHROPIC_API_KEY": NO_KEY, **_SWITCHES}
        self._env |= dict.fromkeys(_CHOICES, model.name)
        switches = " ".join(f"{name}={value}" for name, value in sorted(_SWITCHES.items()))
        self.card = f"claude-code ({PACKAGE}; {dialect}; model {model.name}; {' '.join(_FLAGS)}; {switches})"

    def spec(self, task: Task) -> Spec:
        """See `Agent.spec`."""
        words, env, files = [*self._words], dict(self._env), dict[str, File]()
        if task.memory is None:
            env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
        words.append("--settings=" + json.dumps(_NO_MEMORY if task.memory is None else _MEMORY))
        if task.tools:
            words.append(f"--mcp-config={AGENT}/servers.json")
            files = {"memory_server.py": File(SERVER), "servers.json": File(json.dumps(_SERVERS).encode())}
        spec = session_spec(task, tuple(words), files, env)
        return replace(spec, stdin=task.prompt.encode())
