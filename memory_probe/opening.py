"""What opening a condition takes, and what a condition is: the two types that every ladder module shares.

Invariant: nothing here depends on any one condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory_probe.protocol import Card, Memory, ViewItem


@dataclass(frozen=True)
class Opening:
    """What a condition is opened with: an empty namespace folder, and the items of an instrument."""

    namespace: Path
    evidence: tuple[ViewItem, ...] = ()
    poison: tuple[ViewItem, ...] = ()


@dataclass(frozen=True)
class Condition:
    """A condition's card, and how a memory of it is opened on a namespace."""

    card: Card
    open: Callable[[Opening], Memory]
