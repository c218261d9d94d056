"""What a run recorded of one arm, read as somebody else's word: its sessions, trees and draw, and what they must be.

Invariant: nothing is taken from a record that trees, trap and draw can tell; patterns and paths are bounded before
anything is matched against them, because a run may be made up to keep its reader busy.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import items
from harness import kept as notes
from harness.bank import GOVERNING, tracers
from harness.bundle.opened import Opened
from harness.delta import Delta, apply, changes, classify, glob
from harness.draw import Draw
from harness.objects import ObjectStore
from harness.once import Once
from harness.outcome import CAPTURE_LIMIT, Boundary, Fault, Outcome, UsageFault
from harness.plan import Arm
from harness.records import ArmRecord, Ending, FactTrace, SessionRecord
from harness.replaying.comparison import Difference, shortened
from harness.snapshot import Snapshot, of_tree, overlay, tree_id
from traps.load import Trap
from traps.schema import History, TrapFile

#: Of one pattern: runs of stars, characters; patterns of one trap. Matching takes up to length of path ** wildcards.
MAX_WILDCARDS, MAX_PATTERN, MAX_PATTERNS = 3, 300, 100
MAX_PATH = 1024  # bytes of a changed path
_TREES = 64  # trees that are kept in memory
_TREE = re.compile(r"[0-9a-f]{40}")
_STARS = re.compile(r"\*\*/|\*+|(?<=.)/$")


@dataclass(frozen=True)
class Case:
    """One S3 as it is scored."""

    trap: Trap
    history: History
    draw: Draw
    session: SessionRecord
    start: Snapshot
    delta: Delta

    def traced(self, old: Ending, new: Ending) -> Ending:
        """The new ending with what does not come from scoring: the public check, and how far each fact came.

        A fact that was admitted to the view is used or not by the new verdict, as `harness.bank` says it.
        """
        trapped = new.outcome == Outcome.TRAPPED and not new.forbidden
        exact = {t.name for t in tracers(self.trap, self.history, self.draw) if t.exact}

        def again(trace: FactTrace) -> FactTrace:
            if trace.stage not in ("admitted", "used"):
                return trace
            uses = trace.name in new.used
            if trace.name in exact:
                uses = new.outcome == Outcome.PASS if trace.role in GOVERNING else trapped and not new.used
            stage, lost = ("used", "") if uses else ("admitted", "not used in the change")
            return trace.model_copy(update={"stage": stage, "lost": lost})

        return new.model_copy(update={"check": old.check, "funnel": tuple(map(again, old.funnel))})


def kept(ending: Ending, sessions: Sequence[SessionRecord]) -> str:
    """Why an ending was not made by scoring; "" for one that was. Raises Fault when its sessions say otherwise."""
    last = [s for s in sessions if s.number == 3 and s.reader == ending.reader]
    if ending.outcome == Outcome.UNAVAILABLE:
        if sessions:
            raise _unsound("unavailable, and yet sessions are recorded")
        return "unavailable"
    if ending.outcome == Outcome.INVALID:
        return f"invalid ({ending.boundary.value if ending.boundary else 'no boundary'})"
    if len(last) > 1:
        raise _unsound("two S3 sessions of one reader level are recorded")
    cut = sessions[-1] if not last and sessions and sessions[-1].number < 3 else last[0] if last else None
    if cut is None or (not last and cut.tree_out):
        raise _unsound("no S3 session is recorded")
    if cut.tree_out:
        return ""
    if ending.outcome == Outcome.FAILED and ending.cause.startswith(f"{CAPTURE_LIMIT}: S{cut.number}: "):
        return f"{CAPTURE_LIMIT} in S{cut.number}"
    raise _unsound(f"S{cut.number} left no tree that could have been scored")


class Recorded:
    """The arms of a run as cases. Thread-safe. Raises UsageFault when the run has no object store."""

    def __init__(self, run: Opened) -> None:
        self.run = run
        for name in ("HEAD", "info/attributes"):  # opening would make them, and a run is never written
            if not (run.folder.objects / name).is_file():
                raise UsageFault(f"{run.folder.objects}: no object store here ({name} is missing)")
        store = ObjectStore(run.folder.objects)
        self._tree = functools.lru_cache(_TREES)(lambda tree: _held(store, tree))
        self._starts: Once[str] = Once()
        self._bounded: Once[None] = Once()

    def case(self, record: ArmRecord, ending: Ending) -> Case:
        """The S3 that an ending tells of. Raises Fault naming what is missing or unsound."""
        trap, history = self._place(record)
        draw = self.run.draws.get((record.trap, record.seed))
        if draw is None:
            raise _unsound(f"no facts are recorded for {record.trap} seed {record.seed}")
        session = next(s for s in self.run.sessions(record) if s.number == 3 and s.reader == ending.reader)
        start = self._tree(session.tree_in)
        found = changes(start, self._tree(session.tree_out))
        if any(len(change.path) > MAX_PATH for change in found):
            raise _unsound(f"a changed path of more than {MAX_PATH} bytes")
        return Case(trap, history, draw, session, start, classify(found, trap.spec.allow, trap.fixture.spec.roots))

    def told(self, record: ArmRecord) -> Iterator[Difference]:
        """What the record says of the arm, and the trees that its sessions started from, against trap and plan."""
        trap, history = self._place(record)
        due = {
            "arm": Arm(record.trap, record.condition, record.seed, record.history).id,
            "construct_": trap.construct,
            "expect": history.expect,
            "main": record.history == trap.spec.main_history,
            "injected": items.carried_facts(trap, record.history),
        }
        for field, value in due.items():
            if (was := getattr(record, field)) != value:
                yield Difference(record.arm, "-", field, shortened(str(was)), shortened(str(value)))
        readers = self.run.stored.readers
        if sorted(e.reader for e in record.endings) != sorted(readers):
            was = ", ".join(e.reader for e in record.endings) or "none"
            yield Difference(record.arm, "-", "reader levels", shortened(was), shortened(", ".join(readers)))
        yield from self._started(trap, record)

    def _started(self, trap: Trap, record: ArmRecord) -> Iterator[Difference]:
        """A session starts from the fixture or from what the one before may hand on, with its own files over it.

        A further turn of an agent that keeps notes has the tree as its session left it, and hands nothing on.
        """
        before: SessionRecord | None = None
        for session in self.run.sessions(record):
            if notes.is_debrief(session):
                left = before.tree_out if before is not None and before.number == session.number else "none"
                if session.tree_in != left:
                    what = f"S{session.number} further turn's tree"
                    yield Difference(record.arm, session.reader, what, shortened(session.tree_in), left)
                continue
            if session.number == 1 or before is not None:
                if (due := self._due(trap, session.number, before)) != session.tree_in:
                    what = f"S{session.number} start tree"
                    yield Difference(record.arm, session.reader or "-", what, shortened(session.tree_in), due)
            else:
                yield Difference(record.arm, "-", "sessions", f"S{session.number}", f"S{session.number - 1} before it")
            before = session if session.number < 3 else before

    def _due(self, trap: Trap, number: int, before: SessionRecord | None) -> str:
        """The id of the tree that a session has to start from. The same for most arms of a trap, so made once."""
        clean = number == 3 and trap.spec.clean_start
        handed = None if number == 1 or clean or before is None else (before.number, before.tree_in, before.tree_out)

        def made() -> str:
            base: Snapshot = of_tree(trap.fixture.tree)
            if handed is not None:
                step, *trees = handed
                old, new = map(self._tree, trees)
                rules = [glob(pattern) for pattern in trap.spec.session[step - 1].paths]
                base = apply(old, [c for c in changes(old, new) if any(r.fullmatch(c.path) for r in rules)])
            return tree_id(overlay(base, trap.overlays[number - 1]))

        return self._starts.get((trap.id, number, handed), made)[0]

    def _place(self, record: ArmRecord) -> tuple[Trap, History]:
        trap = self.run.traps.get(record.trap)
        if trap is None:
            raise _unsound(f"the run has no trap {record.trap[:60]!r}")
        self._bounded.get(trap.id, lambda: refuse_slow(trap.spec))
        histories = {history.name: history for history in trap.spec.history}
        if record.history not in histories:
            raise _unsound(f"{trap.id} has no history {record.history[:60]!r}")
        return trap, histories[record.history]


def _held(store: ObjectStore, tree: str) -> Snapshot:
    if not _TREE.fullmatch(tree):  # git would take other words for options
        raise _unsound(f"{tree[:60]!r} is no id of a tree")
    return store.get(tree)


def refuse_slow(spec: TrapFile) -> None:
    """Raises Fault for patterns that could take long to match."""
    patterns = [*spec.allow, *spec.sources, *(path for session in spec.session for path in session.paths)]
    if len(patterns) > MAX_PATTERNS:
        raise Fault(Boundary.TRAP, f"{spec.id}: {len(patterns)} patterns (at most {MAX_PATTERNS})")
    for pattern in patterns:
        if len(pattern) > MAX_PATTERN or len(_STARS.findall(pattern)) > MAX_WILDCARDS:
            raise Fault(Boundary.TRAP, f"{spec.id}: the pattern {pattern[:60]!r} has too many wildcards")


def _unsound(what: str) -> Fault:
    return Fault(Boundary.LEDGER, what)
