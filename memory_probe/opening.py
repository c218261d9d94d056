"""What opening a condition takes, and what a condition is: the two types that every ladder module shares.

Invariant: nothing here depends on any one condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memory_probe.protocol import Card, Memory, ViewItem


@dataclass(frozen=True)
class Opening:
    """What a condition is opened with: an empty namespace folder, and the items of an instrument.

    `told` has every event of the history by its id. All three are empty for a condition that is no instrument.
    """

    namespace: Path
    evidence: tuple[ViewItem, ...] = ()
    poison: tuple[ViewItem, ...] = ()
    told: Mapping[str, ViewItem] = field(default_factory=dict)


@dataclass(frozen=True)
class Condition:
    """A condition's card, and how a memory of it is opened on a namespace."""

    card: Card
    open: Callable[[Opening], Memory]
