"""One arm: three sessions with a memory between them, then the verdict on S3 at every reader level.

    for S1, S2, S3 { memory.read -> view; tree + prompt + view -> sandbox: agent -> delta; public check;
                     events -> episode; memory.record; memory.sleep }  -> score(S3)

Invariant: between sessions nothing carries but the memory and the session's declared paths of the tree; an arm ends
with one outcome a reader level, whatever happens.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from containers.sandbox import Limits, Sandbox, SandboxError
from harness import items
from harness.agents.agent import Agent
from harness.bank import Bank, item_classes
from harness.config import RunConfig
from harness.delta import apply, changes, classify, glob
from harness.door import Door, Halt
from harness.draw import Draw
from harness.haystack import Haystack
from harness.judge import Judge, Sitting
from harness.objects import ObjectStore
from harness.outcome import BOUNDARIES, CAPTURE_LIMIT, Boundary, Fault, Outcome
from harness.plan import Arm, Plan
from harness.records import ArmRecord, CheckRecord, Ending, FactTrace, SessionRecord, stopped_by_limit
from harness.rundir import RunDir
from harness.score import Scorer
from harness.session import CheckMemo, Finished, session_limits
from harness.snapshot import Entry, Snapshot, of_tree, overlay
from harness.stage import Key, Stage
from memory_probe.protocol import Budget, Episode, View
from oracles.solutions import SolutionError
from traps.load import Trap
from traps.schema import TrapError

Emit = Callable[[str, int, SessionRecord], None]
_WORDS_KEPT = 50  # machine words of rejections, the most frequent ones


@dataclass
class Context:
    """What all arms of a run share. `reach` is told each point an arm passes (for crash tests and tracing)."""

    config: RunConfig
    plan: Plan
    draws: dict[tuple[str, int], Draw]
    folder: RunDir
    store: ObjectStore
    sandbox: Sandbox
    agent: Agent
    scorer: Scorer
    emit: Emit
    reach: Callable[[str], None]
    checks: CheckMemo = field(default_factory=CheckMemo)
    haystack: Haystack = field(default_factory=Haystack)
    unavailable: Mapping[str, str] = field(default_factory=dict)  # condition -> why it may not be scored
    checked: Collection[int] = (1, 2, 3)  # sessions whose public check, which decides nothing, is run
    door: Door = field(default_factory=Door)
    judge: Judge = field(default_factory=Judge)
    paid: Mapping[str, Mapping[Key, tuple[int, SessionRecord]]] = field(default_factory=dict)  # by arm

    @property
    def limits(self) -> Limits:
        return session_limits(self.config)


def run_arm(context: Context, arm: Arm, attempt: int) -> ArmRecord:
    """Run an arm to its record; trouble of ours becomes `invalid` with its boundary.

    Raises Halt when the run may not go on.
    """
    begun = time.perf_counter()
    run = _Run(context, arm, attempt)
    try:
        if why := context.unavailable.get(arm.condition):
            run.refuse(why)
        else:
            run.play()
    except Halt:
        raise  # the arm is as it was, and owed
    except Exception as error:
        run.spoil(as_fault(error))
    finally:
        run.close()
    return run.record(time.perf_counter() - begun)


def as_fault(error: Exception) -> Fault:
    """The boundary of an error. One that no room foresaw is a fault of the harness: said in full, never an outcome."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, SandboxError):
        return Fault(Boundary.SANDBOX, str(error))
    if isinstance(error, (TrapError, SolutionError)):
        return Fault(Boundary.TRAP, str(error))
    if isinstance(error, OSError):
        return Fault(Boundary.LEDGER, f"{error.strerror or error}")
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Fault(Boundary.HARNESS, f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})")


class _Run:
    def __init__(self, context: Context, arm: Arm, attempt: int) -> None:
        self.context, self.arm, self.attempt = context, arm, attempt
        self.trap: Trap = context.plan.traps[arm.trap]
        self.history = self.trap.history(arm.history)
        self.draw = context.draws[arm.trap, arm.seed]
        self.warm_up: list[bool | None] = []
        paid = context.paid.get(arm.id, {})
        self.stage = Stage(context, arm, attempt, self.trap, self.history, self.draw, paid=paid)
        self.endings: list[Ending] = []
        self.carried_by_tree: tuple[str, ...] = ()
        self.bank: Bank | None = None
        self.sitting = Sitting()

    # -- the way through -------------------------------------------------------------------------------------

    def play(self) -> None:
        tree: Snapshot = overlay(of_tree(self.trap.fixture.tree), self.trap.overlays[0])
        if self.context.plan.conditions[self.arm.condition].card.needs_model:
            self.sitting = self.context.judge.sit(self.arm.id)
        self.bank = bank = self._bank()
        bank.open(self.context.haystack, self.arm.seed)
        for step in (1, 2):
            left = self._warm_up(bank, step, tree)
            if left is None:
                return
            tree = overlay(self._cut(step, tree, left), self.trap.overlays[step])
        if self.trap.spec.clean_start:
            tree = overlay(of_tree(self.trap.fixture.tree), self.trap.overlays[2])
        self.carried_by_tree = self._facts_in(tree)
        view = bank.last_view(read=not self._pulls)
        for reader in self.context.plan.readers:
            ending = self._last(bank, tree, view, reader)
            self.endings.append(self._traced(bank, ending))

    @property
    def _pulls(self) -> bool:
        return self.context.config.delivery == "pull"

    def _traced(self, bank: Bank, ending: Ending) -> Ending:
        trapped = ending.outcome == Outcome.TRAPPED and not ending.forbidden
        traces = bank.traces(ending.used, ending.outcome == Outcome.PASS, trapped)
        check = self.stage.check.passed if self.stage.check else None
        return ending.model_copy(update={"check": check, "funnel": tuple(FactTrace(**asdict(t)) for t in traces)})

    def _bank(self) -> Bank:
        context = self.context
        return Bank(
            trap=self.trap,
            history=self.history,
            draw=self.draw,
            condition=context.plan.conditions[self.arm.condition],
            budget=Budget(context.config.budget.k, context.config.budget.tokens),
            folder=context.folder,
            space=Path(tempfile.mkdtemp(dir=context.folder.path, prefix="stores-")),
            model=self.sitting.model,
        )

    def _warm_up(self, bank: Bank, step: int, tree: Snapshot) -> Snapshot | None:
        """S1 or S2, its check, its episode. None when a capture limit ended the arm."""
        done = self._session(bank, step, tree, View() if self._pulls else bank.read(step), "")
        if done.cut_short:
            self._end_all(Outcome.FAILED, f"{CAPTURE_LIMIT}: S{step}: {done.cut_short}", Boundary.AGENT)
            return None
        check = self.stage.check
        self.stage.debrief(bank, step, done.tree)
        bank.record(self._episode(step, tree, done, check), lambda point: self.context.reach(f"s{step}:{point}"))
        return done.tree

    def _last(self, bank: Bank, tree: Snapshot, view: View, reader: str) -> Ending:
        try:
            done = self._session(bank, 3, tree, view, reader)
            if done.cut_short:
                return _ending(reader, Outcome.FAILED, f"{CAPTURE_LIMIT}: S3: {done.cut_short}", Boundary.AGENT)
            self.context.reach("s3:score")
            delta = classify(changes(tree, done.tree), self.trap.spec.allow, self.trap.fixture.spec.roots)
            stopped = stopped_by_limit(done.result.timed_out, done.used.use)
            return self.context.scorer.end(self.trap, self.history, self.draw, reader, tree, delta, stopped)
        except Halt:
            raise
        except Exception as error:
            fault = as_fault(error)
            return _ending(reader, BOUNDARIES[fault.boundary].outcome or Outcome.INVALID, fault.reason, fault.boundary)

    # -- one session -----------------------------------------------------------------------------------------

    def _session(self, bank: Bank, step: int, tree: Snapshot, view: View, reader: str) -> Finished:
        done = self.stage.session(bank, step, tree, view, reader)
        if step < 3:
            self.warm_up.append(self.stage.check.passed if self.stage.check else None)
        return done

    def _episode(self, step: int, tree: Snapshot, done: Finished, check: CheckRecord | None) -> Episode:
        session = self.trap.spec.session[step - 1]
        return Episode(
            number=self.context.config.haystack + step,
            repository=self.trap.spec.fixture,
            task=session.task,
            date=session.date,
            prompt=self.trap.texts[session.prompt],
            steps=done.result.stdout.decode("utf-8", "replace"),
            delta=self.context.store.diff(self.context.store.put(tree), done.tree_id).decode("utf-8", "replace"),
            check_passed=check.passed if check else done.result.exit == 0,
            check_output=check.output if check else "",
            notes=tuple(items.note(self.trap, event, self.draw) for event in self.trap.events(self.history.name, step)),
        )

    # -- trees and endings -----------------------------------------------------------------------------------

    def _cut(self, step: int, before: Snapshot, after: Snapshot) -> dict[bytes, Entry]:
        """Only the session's declared paths travel on."""
        rules = [glob(p) for p in self.trap.spec.session[step - 1].paths]
        return apply(before, [c for c in changes(before, after) if any(r.fullmatch(c.path) for r in rules)])

    def _facts_in(self, tree: Snapshot) -> tuple[str, ...]:
        tokens = {n: self.draw.facts[n] for n, f in self.trap.spec.facts.items() if f.kind == "token"}
        bodies = [entry.data for entry in tree.values()] + list(tree)
        return tuple(n for n, v in tokens.items() if any(v.encode() in body for body in bodies))

    def _end_all(self, outcome: Outcome, cause: str, boundary: Boundary) -> None:
        done = {e.reader for e in self.endings}
        self.endings += [_ending(r, outcome, cause, boundary) for r in self.context.plan.readers if r not in done]

    def refuse(self, why: str) -> None:
        """The condition did not clear conformance: nothing is asked of it."""
        self._end_all(Outcome.UNAVAILABLE, why, Boundary.MEMORY)

    def spoil(self, fault: Fault) -> None:
        """End what has not ended by the table of boundaries."""
        self._end_all(BOUNDARIES[fault.boundary].outcome or Outcome.INVALID, fault.reason, fault.boundary)

    def close(self) -> None:
        """Close the memory and remove its scratch space; neither can change how the arm ended."""
        self.sitting.leave()
        if self.bank is not None:
            self.bank.close()
            shutil.rmtree(self.bank.space, ignore_errors=True)

    def record(self, seconds: float) -> ArmRecord:
        return ArmRecord(
            arm=self.arm.id,
            trap=self.arm.trap,
            construct_=self.trap.construct,
            condition=self.arm.condition,
            seed=self.arm.seed,
            history=self.arm.history,
            main=self.arm.history == self.trap.spec.main_history,
            expect=self.history.expect,
            warm_up=tuple(self.warm_up),
            carried_by_tree=self.carried_by_tree,
            injected=items.carried_facts(self.trap, self.arm.history),
            receipts=tuple(r.status for r in self.bank.receipts) if self.bank else (),
            store=self.bank.frozen if self.bank else "",
            shown=item_classes(self.bank) if self.bank else (),
            shown_types=tuple(i.type or "" for i in self.bank.view.items) if self.bank else (),
            contradictions=self.bank.contradictions() if self.bank else (),
            sleep=dict(self.bank.slept) if self.bank else {},
            refused=dict(self.bank.refused.most_common(_WORDS_KEPT)) if self.bank else {},
            endings=tuple(self.endings),
            seconds=round(seconds, 4),
            attempt=self.attempt,
            asked=self.sitting.used(),
        )


def _ending(reader: str, outcome: Outcome, cause: str, boundary: Boundary) -> Ending:
    return Ending(reader=reader, outcome=outcome, cause=cause, boundary=boundary)
