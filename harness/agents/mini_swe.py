"""`mini-swe`: mini-swe-agent, with the prompt templates that it ships, one `mini` run a session.

Invariant: its program is that of its package; a start file of ours hands it the prompt (a word of a command line has
too little room) and changes nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from containers.layer import LAYER, Recipe
from containers.relay_usage import Dialect
from containers.sandbox import AGENT, TOOLS, Spec
from harness.agents.agent import PROMPT, Needs, Task, session_spec
from harness.agents.endpoint import HOST_URL, NO_KEY, V1_URL, spoken
from harness.config import ModelConfig
from traps.fixtures import File

PACKAGE = "mini-swe-agent==2.4.6"
_CONFIG = "mini.yaml"  # as shipped
_TRAJECTORY = "/tmp/trajectory.json"
_START = f"""\
import sys
sys.path.insert(0, {LAYER + "/site"!r})
from minisweagent.run.mini import app
with open({PROMPT!r}, encoding="utf-8") as file:
    sys.argv = ["mini", "--task=" + file.read(), *sys.argv[1:]]
app()
"""
_ENV = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches the list of prices
    "LITELLM_TELEMETRY": "False",
    "MSWEA_CONFIGURED": "true",  # else it asks for a key
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "3",  # the relay has tried again before it answers with an error
    "MSWEA_COST_TRACKING": "ignore_errors",  # its prices do not know every model; the relay counts
    "COLUMNS": "120",
}


@dataclass(frozen=True)
class _Way:
    """How a dialect is spoken: the prefix by which LiteLLM knows it, the model class, base URL, name of the key."""

    prefix: str
    kind: str
    url: str
    key: str


_WAYS = {
    Dialect.CHAT: _Way("openai", "litellm", V1_URL, "OPENAI_API_KEY"),
    Dialect.RESPONSES: _Way("openai", "litellm_response", V1_URL, "OPENAI_API_KEY"),
    Dialect.ANTHROPIC: _Way("anthropic", "litellm", HOST_URL, "ANTHROPIC_API_KEY"),
}


class MiniSweAgent:
    """`mini-swe`. It reads no file of notes and speaks no MCP: what it is to know stands in the prompt.

    Dialects: chat, responses, anthropic.
    """

    own_fault = False

    def __init__(self, model: ModelConfig) -> None:
        dialect = spoken("mini-swe", model, *_WAYS)
        way = _WAYS[dialect]
        self.needs = Needs(dialect=dialect, recipe=Recipe(pip=(PACKAGE,)))
        self._env = {**_ENV, way.key: NO_KEY}
        settings = [f"model.model_kwargs.api_base={way.url}", f"agent.step_limit={model.calls}", "agent.cost_limit=0"]
        self._words = ["--yolo", "--exit-immediately", "--model", f"{way.prefix}/{model.name}"]
        self._words += ["--model-class", way.kind, "--output", _TRAJECTORY]
        self._words += [word for setting in (_CONFIG, *settings) for word in ("--config", setting)]
        self.card = f"mini-swe ({PACKAGE}; {dialect}; model {model.name}; {_CONFIG} as shipped, {', '.join(settings)})"

    def spec(self, task: Task) -> Spec:
        """See `Agent.spec`."""
        command = (f"{TOOLS}/bin/python3", "-I", "-B", f"{AGENT}/start.py", *self._words)
        return session_spec(task, command, {"start.py": File(_START.encode())}, self._env)
