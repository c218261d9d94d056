"""The agents: one small file each; all speak the protocol in `agent`. A new one is a file and a line here."""

from __future__ import annotations

from pathlib import Path

from harness.agents.agent import Agent
from harness.agents.command import CommandAgent
from harness.agents.instruments import NopAgent, SolutionAgent
from harness.agents.reference import ReferenceAgent
from harness.config import AgentConfig
from harness.outcome import UsageFault

NAMES = ("reference", "nop", "solution", "command")


def make_agent(config: AgentConfig) -> Agent:
    """The agent a configuration names. Raises UsageFault for an unknown one."""
    if config.name == "reference":
        return ReferenceAgent()
    if config.name == "nop":
        return NopAgent()
    if config.name == "solution":
        return SolutionAgent()
    if config.name == "command":
        return CommandAgent(config.command, Path(config.program) if config.program else None)
    raise UsageFault(f"agent.name: unknown {config.name!r} (there are: {', '.join(NAMES)})")
