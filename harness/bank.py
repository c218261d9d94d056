"""The memory side of one arm: its private namespace, what was written, what S3 was shown, where each fact got lost.

Invariant: the memory is reached through its protocol alone; whatever it raises is an error of the boundary `memory`,
and S3 reads from a copy of the store as frozen after S2, because reading may change a store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from harness import items
from harness.draw import Draw
from harness.funnel import Seen, Trace, Tracer, trace
from harness.haystack import Haystack
from harness.outcome import Boundary, Fault
from harness.records import Contradiction
from harness.rundir import RunDir
from harness.snapshot import LINK, REGULAR, Entry, Snapshot, to_tar
from harness.stores import keep_store, write_files
from memory_probe.files import FilesMemory
from memory_probe.model import Model, ModelFault
from memory_probe.opening import Condition, Opening, equipped
from memory_probe.protocol import (
    Budget,
    Episode,
    Memory,
    MemoryFault,
    Query,
    Receipt,
    Rejected,
    StoredRecord,
    Unlisted,
    View,
)
from traps.load import Trap
from traps.schema import History

T = TypeVar("T")
SETTLE_SECONDS = 60.0
_REJECTED_KEPT = 200
_OVER = ("superseded", "retracted", "expired")
_WORD_KEPT = 60  # characters of a reason's machine word
#: Roles of what is needed; whatever has another role must not be used.
GOVERNING = frozenset({"governing", "rule", "parameter", "confirming", "disconfirming"})


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
    slept: Counter[str] = field(default_factory=Counter)  # changes by sleep operator
    refused: Counter[str] = field(default_factory=Counter)  # rejected candidates by machine word
    model: Model | None = None  # what a condition that needs a model asks
    _records: list[StoredRecord] | Unlisted = field(default_factory=list)

    def open(self, haystack: Haystack, seed: int) -> None:
        """Fill the namespace with the background, if there is one, and open it."""
        namespace = self.space / "live"
        filler = equipped(self.condition, self.model)
        ask(lambda: haystack.fill(filler, self.trap.spec.fixture, seed, namespace))
        self._memory = ask(lambda: self.condition.open(Opening(namespace, model=self.model)))

    def read(self, step: int) -> View:
        """What the memory gives before session `step`."""
        memory = self._open_memory
        view = ask(lambda: memory.read(items.query(self.trap, step), self.budget))
        self.refused.update(rejected.why.partition(":")[0][:_WORD_KEPT] for rejected in view.rejected)
        return view

    def search(self, step: int, query: str) -> View:
        """What the memory gives when the agent asks it in session `step`: it is told the words, where and when."""
        memory, known = self._open_memory, items.query(self.trap, step)
        asked = Query(query, (), (), known.repository, "", known.now)
        view = ask(lambda: memory.read(asked, self.budget))
        self.refused.update(rejected.why.partition(":")[0][:_WORD_KEPT] for rejected in view.rejected)
        return view

    @property
    def directory(self) -> bytes | None:
        """A tar of the notes that the agent keeps itself; None for a memory that it does not keep."""
        if not self.condition.kept_by_agent:
            return None
        memory = self._open_memory
        assert isinstance(memory, FilesMemory)
        return to_tar({name.encode(): Entry(REGULAR, data) for name, data in memory.directory.items()})

    def keep(self, left: Snapshot) -> None:
        """What a session left of that directory. What is no plain file, or has no name in UTF-8, is not kept."""
        memory = self._open_memory
        assert isinstance(memory, FilesMemory)
        named = {path.decode("utf-8", "replace"): entry for path, entry in left.items() if entry.mode != LINK}
        files = {name: entry.data for name, entry in named.items() if "\ufffd" not in name}
        ask(lambda: memory.replace(files))

    def record(self, episode: Episode, reach: Callable[[str], None]) -> None:
        """Tell a finished session, wait until it can be read, and let the memory sleep."""
        memory = self._open_memory
        reach("record")
        self.receipts += ask(lambda: memory.record(episode))
        ask(lambda: memory.settle(SETTLE_SECONDS))
        reach("sleep")
        report = ask(lambda: memory.sleep(episode.date))
        for operator, changes in report.changes.items():
            self.slept[operator] += changes  # an operator that changed nothing stays, with 0

    def last_view(self, read: bool = True) -> View:
        """List and freeze the store, then read for S3 from a copy. Instruments show their items here only.

        Without `read` nothing is read yet: the agent will ask.
        """
        memory = self._open_memory
        listed = ask(lambda: memory.records(include_inactive=True))
        self._records = listed if isinstance(listed, Unlisted) else ask(lambda: list(listed))
        files = ask(memory.freeze)
        self.frozen = ask(lambda: keep_store(self.folder, files))
        ask(memory.close)
        copy = self.space / "copy"
        ask(lambda: write_files(copy, files))
        self._memory = ask(lambda: self.condition.open(self._last_opening(copy)))
        self.view = self.read(3) if read else View()
        return self.view

    def _last_opening(self, namespace: Path) -> Opening:
        """What S3's memory is opened with; what the harness knows of the trap goes to instruments alone."""
        if not self.condition.card.instrument:
            return Opening(namespace, model=self.model)
        trap, history = self.trap, self.history
        present = [event for event in trap.spec.event if event.id in history.roles]
        return Opening(
            namespace,
            items.items(trap, trap.evidence(history.name), self.draw),
            items.items(trap, trap.poison(history.name), self.draw),
            {event.id: items.items(trap, [event], self.draw)[0] for event in present},
        )

    def traces(self, used: Iterable[str], passed: bool, trapped: bool) -> tuple[Trace, ...]:
        """The fact funnel of one ending.

        What is followed by its text is used when that text stands in the change. A choice or story that governs is
        used when every check of the oracle held (`passed`); one that must not be used, when a forbidden behaviour was
        seen (`trapped`) that no text in the change explains.
        """
        if self.condition.card.instrument:
            return ()
        done = set(used)
        seen = Seen(self.receipts, self._records, self.view)
        found = []
        for tracer in tracers(self.trap, self.history, self.draw):
            if not tracer.exact:
                uses = tracer.name in done
            else:
                uses = passed if tracer.role in GOVERNING else trapped and not done
            found.append(trace(tracer, seen, {tracer.name} if uses else ()))
        return tuple(found)

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Each superseded fact with each that governs, for a store that tells states and can be listed."""
        told = "state" in self.condition.card.capabilities and not isinstance(self._records, Unlisted)
        if not self.frozen or not told:
            return ()
        all_ = tracers(self.trap, self.history, self.draw)
        new = [t for t in all_ if t.role == "governing" and not t.exact]
        return tuple(self._contradiction(o, n) for o in all_ if o.role == "superseded" for n in new)

    def _contradiction(self, old: Tracer, new: Tracer) -> Contradiction:
        listed = self._records if isinstance(self._records, list) else []
        was = [r for r in listed if old.text in r.text and new.text not in r.text]
        now = [r.state for r in listed if new.text in r.text]
        settled = bool(was) and all(r.state in _OVER for r in was)
        links = [r.replaced_by for r in was if r.replaced_by is not None]
        linked = any(new.text in text for texts in links for text in texts) if links else None
        return Contradiction(
            old=old.name, new=new.name, old_inactive=settled, new_active="active" in now, linked=linked
        )

    def view_json(self, view: View) -> bytes:
        """A view as it is stored: every item; rejected candidates that carry a fact, and the best others."""
        texts = [tracer.text for tracer in tracers(self.trap, self.history, self.draw)]
        telling: list[Rejected] = []
        others: list[Rejected] = []
        for rejected in view.rejected:
            (telling if any(t in rejected.text for t in texts) else others).append(rejected)
        others = others[:_REJECTED_KEPT]
        kept = {"items": [asdict(i) for i in view.items], "rejected": [vars(r) for r in (*telling, *others)]}
        return json.dumps({**kept, "considered": view.considered}, default=str, ensure_ascii=False).encode()

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
    """Whatever a memory raises is the memory's; our disk being full is not, nor a model that gives no answer."""
    try:
        return call()
    except (Fault, OSError):
        raise
    except ModelFault as error:
        raise Fault(Boundary.MODEL, str(error)) from error
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
        for name in event.carries or (f"note {event.id}",):
            token = name in trap.spec.facts and trap.spec.facts[name].kind == "token"
            text = draw.facts[name] if token else number
            found.setdefault(name, Tracer(name, text, role, event.kind, event.after, exact=not token))
    return list(found.values())


#: What an item of a view is, by the best role of the notes it carries.
_CLASSES = (
    ("useful", GOVERNING),
    ("stale", {"superseded"}),
    ("harmful", {"spurious", "poison"}),
    ("distracting", {"distractor", "decoy"}),
)


def item_classes(bank: Bank) -> tuple[str, ...]:
    """For each item that S3 was shown: useful, stale, harmful, distracting, or irrelevant when it carries nothing.

    A note that is followed by its text is not carried by naming its number ("replaces N-1").
    """
    roles = {bank.draw.refs[p.id]: "poison" for p in bank.trap.spec.poison}
    roles |= {t.text: t.role for t in tracers(bank.trap, bank.history, bank.draw)}
    found = []
    for item in bank.view.items:
        here = {role for text, role in roles.items() if text in item.text}
        found.append(next((name for name, wanted in _CLASSES if here & wanted), "irrelevant"))
    return tuple(found)
