"""`aider`: the program of that name, which edits by text: whole files, one message a session.

It is given the files that the task names (see `inside.named`), as `edit` is. It reads no file of notes and speaks no
MCP: what it is to know stands in the prompt. Invariant: its histories and caches are outside of the tree, it makes no
commits, and what it would look up (prices, versions, pages) is given or switched off.
"""

from __future__ import annotations

import json

from containers.layer import LAYER, Recipe
from containers.relay_usage import Dialect
from containers.sandbox import AGENT, TOOLS, Spec
from harness.agents.agent import PROMPT, Needs, Task, session_spec
from harness.agents.edit import MOST, SEED, program_files
from harness.agents.endpoint import NO_KEY, V1_URL, spoken
from harness.config import ModelConfig
from memory_probe.render import HEADING
from traps.fixtures import File

PACKAGE = "aider-chat==0.86.2"
_FORMAT = "whole"
_START = f"""\
import sys
sys.path.insert(0, {AGENT!r})
from inside.start_aider import main
main(sys.argv[1:])
"""
_SETTINGS, _METADATA = f"{AGENT}/settings.yml", f"{AGENT}/metadata.json"
_OFF = (
    "--no-auto-commits",
    "--no-dirty-commits",
    "--no-gitignore",  # it would add a line of its own to the tree's
    "--no-check-update",
    "--no-show-release-notes",
    "--analytics-disable",
    "--no-show-model-warnings",
    "--no-detect-urls",
    "--disable-playwright",
    "--no-suggest-shell-commands",
    "--no-auto-lint",
    "--no-auto-test",
    "--no-restore-chat-history",
    "--no-stream",
    "--no-pretty",
    "--no-fancy-input",
)
_HISTORIES = ("input", "chat", "llm")
_ENV = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it fetches the list of prices
    "LITELLM_TELEMETRY": "False",
    "OPENAI_API_KEY": NO_KEY,
    "OPENAI_API_BASE": V1_URL,
    "COLUMNS": "120",
}


class AiderAgent:
    """`aider`, in the chat dialect."""

    own_fault = False
    needs = Needs(dialect=Dialect.CHAT, recipe=Recipe(pip=(PACKAGE,)))

    def __init__(self, model: ModelConfig) -> None:
        spoken("aider", model, Dialect.CHAT)
        name = f"openai/{model.name}"
        self._words = ["--model", name, "--edit-format", _FORMAT, "--message-file", PROMPT, "--yes-always"]
        self._words += ["--map-tokens", "0", *_OFF]
        self._words += [word for kind in _HISTORIES for word in (f"--{kind}-history-file", f"/tmp/{kind}.log")]
        self._words += ["--model-settings-file", _SETTINGS, "--model-metadata-file", _METADATA]
        files = program_files("named.py", "start_aider.py")
        self._program = {f"inside/{path}": File(data) for path, data in files.items()}
        self._program["main.py"] = File(_START.encode())
        self._program["settings.yml"] = File(json.dumps([_settings(name)]).encode())  # JSON is YAML
        self._program["metadata.json"] = File(json.dumps({name: _metadata()}).encode())
        self.card = (
            f"aider ({PACKAGE}; chat; model {model.name}; edit format {_FORMAT}, no map of the repository, "
            f"temperature 0, seed {SEED}, at most {MOST} tokens out; files that the task names)"
        )

    def spec(self, task: Task) -> Spec:
        """See `Agent.spec`."""
        program = f"{LAYER}/bin/aider"
        command = (f"{TOOLS}/bin/python3", "-I", "-B", f"{AGENT}/main.py", PROMPT, HEADING, program, *self._words)
        return session_spec(task, command, self._program, _ENV)


def _settings(name: str) -> dict[str, object]:
    """What aider otherwise knows of a model by its name."""
    return {
        "name": name,
        "edit_format": _FORMAT,
        "weak_model_name": name,
        "editor_model_name": name,
        "use_repo_map": False,
        "use_temperature": True,  # which is 0
        "streaming": False,
        "extra_params": {"max_tokens": MOST, "seed": SEED},
    }


def _metadata() -> dict[str, object]:
    """What it otherwise looks up: a window so large that it never asks whether to go on, and no prices."""
    return {
        "litellm_provider": "openai",
        "mode": "chat",
        "max_input_tokens": 1_000_000,
        "max_output_tokens": MOST,
        "max_tokens": MOST,
        "input_cost_per_token": 0,
        "output_cost_per_token": 0,
    }
