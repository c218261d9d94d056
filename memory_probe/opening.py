"""What opening a condition takes, and what a condition is: the two types that every ladder module shares.

Invariant: nothing here depends on any one condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from memory_probe.model import Model
from memory_probe.protocol import Card, Memory, ViewItem


@dataclass(frozen=True)
class Opening:
    """What a condition is opened with: an empty namespace folder, the items of an instrument, and a model.

    `told` has every event of the history by its id. It and the items are empty for a condition that is no instrument.
    A condition whose card says `needs_model` asks `model`, and raises MemoryFault when there is none.
    """

    namespace: Path
    evidence: tuple[ViewItem, ...] = ()
    poison: tuple[ViewItem, ...] = ()
    told: Mapping[str, ViewItem] = field(default_factory=dict)
    model: Model | None = None


@dataclass(frozen=True)
class Condition:
    """A condition's card, how a memory of it is opened on a namespace, and the `extra` of this package that this takes
    ("" = none). `kept_by_agent`: its files are put into sessions, and the agent writes them."""

    card: Card
    open: Callable[[Opening], Memory]
    extra: str = ""
    kept_by_agent: bool = False

    @property
    def unaided(self) -> bool:
        """Does it work with any agent, without a model, and with what is always installed?"""
        return not self.card.needs_model and not self.extra and not self.kept_by_agent


def equipped(condition: Condition, model: Model | None) -> Condition:
    """The condition, opened with `model` by whoever opens it without one."""
    if model is None:
        return condition
    return replace(condition, open=lambda opening: condition.open(replace(opening, model=opening.model or model)))
