"""What is known of every agent before a run: what it speaks, what it can be given, and whether its programs are there.

Invariant: it is asked of the agents themselves, made as a run makes them; nothing is installed or started here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from containers.layer import Layer
from containers.layer_build import find_layer, own_version
from containers.relay_usage import Dialect
from harness.agents import make_agent
from harness.agents.agent import Agent, Needs
from harness.config import ModelConfig, RunConfig
from harness.outcome import UsageFault

_ANY = "model"  # stands for the name of a model where none is given


@dataclass(frozen=True)
class Entry:
    """One agent. `dialects` are those that it speaks, its first choice first.

    `card` is what a plan would hold ("" where the model or the command is not known), or `problem` says why there
    can be none.
    """

    name: str
    needs: Needs
    dialects: tuple[Dialect, ...]
    card: str = ""
    problem: str = ""

    @property
    def pins(self) -> tuple[str, ...]:
        """The packages that are its programs."""
        recipe = self.needs.recipe
        return () if recipe is None else (*recipe.pip, *recipe.npm)

    def layer(self, cache: Path, inside: str) -> Layer | None:
        """Its programs for sandboxes whose interpreter is `inside`, if they are in the cache."""
        recipe = self.needs.recipe
        return None if recipe is None else find_layer(cache, recipe, layer_python(self.needs, inside))


def entry_of(name: str, config: RunConfig) -> Entry:
    """What is known of an agent under a configuration. Raises UsageFault for an unknown one."""
    known = _made(name, config, ModelConfig(name=_ANY))
    first = known.needs.dialect
    others = (dialect for dialect in Dialect if dialect is not first and _speaks(name, config, dialect))
    dialects = () if first is None else (first, *others)
    if name == "command" and not config.agent.command:
        return Entry(name, known.needs, dialects)
    if first is not None and name != "command" and not config.model.name:
        return Entry(name, known.needs, dialects)
    try:
        return Entry(name, known.needs, dialects, card=_made(name, config, config.model).card)
    except UsageFault as fault:
        return Entry(name, known.needs, dialects, problem=str(fault))


def _made(name: str, config: RunConfig, model: ModelConfig) -> Agent:
    agent = config.agent.model_copy(update={"name": name, "command": config.agent.command or ("true",)})
    return make_agent(config.model_copy(update={"agent": agent, "model": model}))


def _speaks(name: str, config: RunConfig, dialect: Dialect) -> bool:
    try:
        return _made(name, config, ModelConfig(name=_ANY, dialect=dialect.value)).needs.dialect is dialect
    except UsageFault:
        return False  # all else of it is in order: it was made with its first dialect before


def layer_python(needs: Needs, inside: str) -> str:
    """Minor version of the interpreter that runs an agent's programs, where that of sandboxes is `inside`."""
    return own_version() if needs.outside else inside


def layer_bytes(layer: Layer) -> int:
    """What the files of a layer hold together."""
    found = 0
    for folder, _, files in os.walk(layer.directory):
        found += sum(os.lstat(os.path.join(folder, name)).st_size for name in files)
    return found
