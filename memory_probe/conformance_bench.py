"""Where a conformance probe works: folders of its own, the memories it opens, and ways to look at one.

Invariant: a memory is looked at through the protocol only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from memory_probe.conformance_world import QUERY, WIDE
from memory_probe.opening import Condition, Opening
from memory_probe.protocol import Episode, Memory, Receipt, Unlisted, View

SETTLE_SECONDS = 60.0


class Failed(Exception):
    """A probe saw something wrong."""


class NotApplicable(Exception):
    """There is nothing to judge, and the memory says so."""


@dataclass
class Bench:
    """A probe's place: folders of its own, and the memories it opened (closed afterwards)."""

    condition: Condition
    root: Path
    slow: float
    figures: dict[str, float] = field(default_factory=dict)
    opened: list[Memory] = field(default_factory=list)

    def open(self, name: str) -> Memory:
        """The condition in the folder `name` (made if new)."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        memory = self.condition.open(Opening(folder))
        self.opened.append(memory)
        return memory

    def claims(self, capability: str) -> bool:
        return capability in self.condition.card.capabilities


def tell(bench: Bench, memory: Memory, *episodes: Episode) -> list[Receipt]:
    """Record, settle and sleep, as an arm does. Raises NotApplicable for a memory that refused every event."""
    receipts: list[Receipt] = []
    for episode in episodes:
        receipts += memory.record(episode)
        memory.settle(SETTLE_SECONDS)
        memory.sleep(episode.date)
    refused = bool(receipts) and all(r.status == "rejected" and r.why for r in receipts)
    if refused or bench.claims("keeps-nothing"):
        if texts_of(memory) or memory.read(QUERY, WIDE).items:
            raise Failed("it is said that nothing is kept, yet something is held or shown")
        raise NotApplicable(f"keeps nothing, and says so: {receipts[0].why if refused else 'its card'}")
    return receipts


def texts_of(memory: Memory) -> list[str]:
    """Everything held; of a store that cannot be listed, everything shown."""
    held = memory.records(include_inactive=True)
    if isinstance(held, Unlisted):
        return [item.text for item in memory.read(QUERY, WIDE).items]
    return [record.text for record in held]


def shown_texts(view: View) -> list[str]:
    return sorted(item.text for item in view.items)


def need(condition: bool, what: str) -> None:
    if not condition:
        raise Failed(what)
