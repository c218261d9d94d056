"""The agents: one small file each; all speak the protocol in `agent`. A new one is a file and a line here.

Invariant: a name means one class; a class is imported when its agent is asked for.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from harness.agents.agent import Agent
from harness.agents.command import CommandAgent
from harness.agents.instruments import NopAgent, SolutionAgent
from harness.agents.reference import ReferenceAgent
from harness.config import RunConfig
from harness.outcome import UsageFault

#: Agents that call a model -> module and class, which is made from the `ModelConfig`.
WITH_MODEL = {
    "mini-swe": ("mini_swe", "MiniSweAgent"),
    "mini-swe-outside": ("mini_swe_outside", "MiniSweOutsideAgent"),
    "codex": ("codex", "CodexAgent"),
    "claude-code": ("claude_code", "ClaudeCodeAgent"),
    "aider": ("aider", "AiderAgent"),
    "opencode": ("opencode", "OpencodeAgent"),
    "gemini": ("gemini", "GeminiAgent"),
    "edit": ("edit", "EditAgent"),
}
NAMES = ("reference", "nop", "solution", "command", *WITH_MODEL)


def make_agent(run: RunConfig) -> Agent:
    """The agent that a configuration names. Raises UsageFault for an unknown one, or a model that it cannot use."""
    config = run.agent
    if config.name in WITH_MODEL:
        module, name = WITH_MODEL[config.name]
        agent: Agent = getattr(import_module(f"harness.agents.{module}"), name)(run.model)
        return agent
    if config.name == "reference":
        return ReferenceAgent()
    if config.name == "nop":
        return NopAgent()
    if config.name == "solution":
        return SolutionAgent()
    if config.name == "command":
        model = run.model if run.model.name else None
        return CommandAgent(config.command, Path(config.program) if config.program else None, model)
    raise UsageFault(f"agent.name: unknown {config.name!r} (there are: {', '.join(NAMES)})")
