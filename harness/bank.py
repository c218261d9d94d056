"""The memory side of one arm: its private namespace, what was written, what S3 was shown, where each fact got lost.

Invariant: the memory is reached through its protocol alone; whatever it raises is an error of the boundary `memory`,
and S3 reads from a copy of the store as frozen after S2, because reading may change a store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from harness import items
from harness.draw import Draw
from harness.funnel import Trace, Tracer, trace
from harness.haystack import Haystack
from harness.outcome import Boundary, Fault
from harness.rundir import RunDir
from memory_probe.opening import Condition, Opening
from memory_probe.protocol import (
    Budget,
    Episode,
    Memory,
    MemoryFault,
    Receipt,
    StoredRecord,
    Unlisted,
    View,
)
from traps.load import Trap
from traps.schema import History

T = TypeVar("T")
SETTLE_SECONDS = 60.0
_REJECTED_KEPT = 200


@dataclass
class Bank:
    """One arm's memory. `space` is a scratch folder that the caller removes; `folder` takes the blobs."""

    trap: Trap
    history: History
    draw: Draw
    condition: Condition
    budget: Budget
    folder: RunDir
    space: Path
    receipts: list[Receipt] = field(default_factory=list)
    frozen: str = ""  # blob of the store's manifest, once frozen
    view: View = field(default_factory=View)  # what S3 was shown
    _memory: Memory | None = None
    _records: list[StoredRecord] | Unlisted = field(default_factory=list)

    def open(self, haystack: Haystack, seed: int) -> None:
        """Fill the namespace with the background, if there is one, and open it."""
        namespace = self.space / "live"
        ask(lambda: haystack.fill(self.condition, self.trap.spec.fixture, seed, namespace))
        self._memory = ask(lambda: self.condition.open(Opening(namespace)))

    def read(self, step: int) -> View:
        """What the memory gives before session `step`."""
        memory = self._open_memory
        return ask(lambda: memory.read(items.query(self.trap, step), self.budget))

    def record(self, episode: Episode, reach: Callable[[str], None]) -> None:
        """Tell a finished session, wait until it can be read, and let the memory sleep."""
        memory = self._open_memory
        reach("record")
        self.receipts += ask(lambda: memory.record(episode))
        ask(lambda: memory.settle(SETTLE_SECONDS))
        reach("sleep")
        ask(lambda: memory.sleep(episode.date))

    def last_view(self) -> View:
        """List and freeze the store, then read for S3 from a copy. Instruments show their items here only."""
        memory = self._open_memory
        listed = ask(lambda: memory.records(include_inactive=True))
        self._records = listed if isinstance(listed, Unlisted) else ask(lambda: list(listed))
        files = ask(memory.freeze)
        manifest = {name: self.folder.put_blob(data) for name, data in sorted(files.items())}
        self.frozen = self.folder.put_blob(json.dumps(manifest, sort_keys=True).encode())
        ask(memory.close)
        copy = self.space / "copy"
        for name, data in files.items():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        evidence = items.items(self.trap, self.trap.evidence(self.history.name), self.draw)
        poison = items.items(self.trap, self.trap.poison(self.history.name), self.draw)
        self._memory = ask(lambda: self.condition.open(Opening(copy, evidence, poison)))
        self.view = self.read(3)
        return self.view

    def traces(self, used: Iterable[str], passed: bool) -> tuple[Trace, ...]:
        """The fact funnel of one ending. A choice or story counts as used when every check of the oracle held."""
        if self.condition.card.instrument:
            return ()
        done = set(used)
        found = []
        for tracer in tracers(self.trap, self.history, self.draw):
            by_text = tracer.name in self.draw.facts and tracer.text == self.draw.facts[tracer.name]
            uses = done if by_text else ({tracer.name} if passed else set())
            found.append(trace(tracer, self.receipts, self._records, self.view, uses))
        return tuple(found)

    def view_json(self, view: View) -> bytes:
        """A view as it is stored: every item; rejected candidates that carry a fact, and the best others."""
        values = [v for v in self.draw.facts.values() if v]
        telling = [r for r in view.rejected if any(v in r.text for v in values)]
        others = [r for r in view.rejected if r not in telling][:_REJECTED_KEPT]
        kept = {"items": [asdict(i) for i in view.items], "rejected": [asdict(r) for r in (*telling, *others)]}
        return json.dumps({**kept, "considered": view.considered}, default=str, ensure_ascii=False, indent=1).encode()

    def close(self) -> None:
        """Close what is open. A memory that cannot close has nothing left to lose: its store is frozen already."""
        if self._memory is not None:
            try:
                ask(self._memory.close)
            except (Fault, OSError):
                pass

    @property
    def _open_memory(self) -> Memory:
        if self._memory is None:
            raise Fault(Boundary.MEMORY, "the memory was never opened")
        return self._memory


def ask(call: Callable[[], T]) -> T:
    """Whatever a memory raises is the memory's; our disk being full is not."""
    try:
        return call()
    except (Fault, OSError):
        raise
    except MemoryFault as error:
        raise Fault(Boundary.MEMORY, str(error)) from error
    except Exception as error:
        raise Fault(Boundary.MEMORY, f"{type(error).__name__}: {error}") from error


def tracers(trap: Trap, history: History, draw: Draw) -> list[Tracer]:
    """What is followed in this history: each token by its value, each other fact or bare note by a note's number."""
    found: dict[str, Tracer] = {}
    for event in trap.spec.event:
        if event.id not in history.roles:
            continue
        role, number = history.roles[event.id], draw.refs[event.id]
        for name in event.carries:
            token = trap.spec.facts[name].kind == "token"
            found.setdefault(name, Tracer(name, draw.facts[name] if token else number, role))
        if not event.carries:
            found[f"note {event.id}"] = Tracer(f"note {event.id}", number, role)
    return list(found.values())


#: What an item of a view is, by the best role of the notes it carries.
_CLASSES = (
    ("useful", {"governing", "rule", "parameter", "confirming", "disconfirming"}),
    ("stale", {"superseded"}),
    ("harmful", {"spurious", "poison"}),
    ("distracting", {"distractor", "decoy"}),
)


def item_classes(bank: Bank) -> tuple[str, ...]:
    """For each item that S3 was shown: useful, stale, harmful, distracting, or irrelevant when it carries nothing."""
    roles: dict[str, str] = {bank.draw.refs[e]: role for e, role in bank.history.roles.items()}
    roles |= {bank.draw.refs[p.id]: "poison" for p in bank.trap.spec.poison}
    values = {t.text: t.role for t in tracers(bank.trap, bank.history, bank.draw)}
    found = []
    for item in bank.view.items:
        here = {role for text, role in {**values, **roles}.items() if text in item.text}
        found.append(next((name for name, wanted in _CLASSES if here & wanted), "irrelevant"))
    return tuple(found)
