"""Parts of a memory that never did anything in a run: operators that changed nothing, gates that rejected nothing.

Invariant: a part is inert only if it was there in every counted arm's memory and acted in none of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["operator", "gate"]


@dataclass(frozen=True)
class Part:
    """What one part of a condition's memory did over all arms: memories changed, or candidates rejected."""

    condition: str
    kind: Kind
    name: str
    acted: int


def inert(parts: Iterable[Part]) -> list[Part]:
    """The parts that never acted, in their order."""
    return [part for part in parts if part.acted == 0]
