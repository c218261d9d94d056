"""Sleep: six named operators in a fixed order, each removable by name.

Invariant: an operator sees what those before it did, all of a sleep is one transaction, and a sleep with nothing new
changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memory_probe.sleep.base import Operator, Settings
from memory_probe.sleep.capsules import capsules
from memory_probe.sleep.consolidate import consolidate
from memory_probe.sleep.ground import ground
from memory_probe.sleep.repair import repair
from memory_probe.sleep.replay import replay
from memory_probe.sleep.stale import stale

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        "consolidate": consolidate,
        "capsules": capsules,
        "replay": replay,
        "repair": repair,
        "stale": stale,
        "ground": ground,
    }
)

__all__ = ["OPERATORS", "Operator", "Settings"]
