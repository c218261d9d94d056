"""One arm: three sessions with a memory between them, then the verdict on S3 at every reader level.

    for S1, S2, S3 { memory.read -> view; tree + prompt + view -> sandbox: agent -> delta; public check;
                     events -> episode; memory.record; memory.sleep }  -> score(S3)

Invariant: between sessions nothing carries but the memory and the session's declared paths of the tree; an arm ends
with one outcome a reader level, whatever happens.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from containers.sandbox import MIB, Limits, Sandbox, SandboxError
from harness import items
from harness.agents.agent import Agent, Script, Task
from harness.config import RunConfig
from harness.delta import apply, changes, classify, glob
from harness.draw import Draw
from harness.objects import ObjectStore
from harness.outcome import BOUNDARIES, CAPTURE_LIMIT, Boundary, Fault, Outcome
from harness.plan import Arm, Plan
from harness.records import ArmRecord, Ending, SessionRecord
from harness.rundir import RunDir
from harness.score import Scorer
from harness.session import CheckMemo, Finished, run_session
from harness.snapshot import Entry, Snapshot, of_tree, overlay
from memory_probe.ladder import Opening
from memory_probe.protocol import Budget, Episode, Memory, MemoryFault, View
from memory_probe.render import memory_bytes, render
from traps.load import Trap

T = TypeVar("T")
Emit = Callable[[str, int, SessionRecord], None]
SETTLE_SECONDS = 60.0
_REJECTED_KEPT = 200


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

    @property
    def limits(self) -> Limits:
        own = self.config.limits
        return Limits(own.wall, own.memory_mib * MIB, own.processes, disk=own.disk_mib * MIB)


def run_arm(context: Context, arm: Arm, attempt: int) -> ArmRecord:
    """Run an arm to its record; trouble of ours becomes `invalid` with its boundary."""
    begun = time.perf_counter()
    run = _Run(context, arm, attempt)
    try:
        run.play()
    except (Fault, SandboxError, OSError) as error:
        run.spoil(as_fault(error))
    finally:
        run.close()
    return run.record(time.perf_counter() - begun)


def as_fault(error: Fault | SandboxError | OSError) -> Fault:
    """The boundary of an error: a sandbox error by type, an operating system error is our storage."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, SandboxError):
        return Fault(Boundary.SANDBOX, str(error))
    return Fault(Boundary.LEDGER, f"{error.strerror or error}")


class _Run:
    def __init__(self, context: Context, arm: Arm, attempt: int) -> None:
        self.context, self.arm, self.attempt = context, arm, attempt
        self.trap: Trap = context.plan.traps[arm.trap]
        self.history = self.trap.history(arm.history)
        self.draw = context.draws[arm.trap, arm.seed]
        self.warm_up: list[bool | None] = []
        self.receipts: list[str] = []
        self.endings: list[Ending] = []
        self.carried_by_tree: tuple[str, ...] = ()
        self.frozen = ""
        self._space = Path(tempfile.mkdtemp(dir=context.folder.path, prefix="stores-"))
        self._memory: Memory | None = None

    # -- the way through -------------------------------------------------------------------------------------

    def play(self) -> None:
        tree: Snapshot = overlay(of_tree(self.trap.fixture.tree), self.trap.overlays[0])
        self._memory = self._open(self._space / "live", last=False)
        for step in (1, 2):
            left = self._warm_up(step, tree)
            if left is None:
                return
            tree = overlay(self._cut(step, tree, left), self.trap.overlays[step])
        if self.trap.spec.clean_start:
            tree = overlay(of_tree(self.trap.fixture.tree), self.trap.overlays[2])
        self.carried_by_tree = self._facts_in(tree)
        view = self._frozen_view()
        for reader in self.context.plan.readers:
            self.endings.append(self._last(tree, view, reader))

    def _warm_up(self, step: int, tree: Snapshot) -> Snapshot | None:
        """S1 or S2, its check, its episode. None when a capture limit ended the arm."""
        memory = self._memory
        assert memory is not None
        view = self._ask(lambda: memory.read(items.query(self.trap, step), self._budget()))
        done = self._session(step, tree, view, "")
        if done.cut_short:
            self._end_all(Outcome.FAILED, f"{CAPTURE_LIMIT}: S{step}: {done.cut_short}", Boundary.AGENT)
            return None
        episode = self._episode(step, tree, done)
        self.context.reach(f"s{step}:record")
        self.receipts += [r.status for r in self._ask(lambda: memory.record(episode))]
        self._ask(lambda: memory.settle(SETTLE_SECONDS))
        self.context.reach(f"s{step}:sleep")
        self._ask(lambda: memory.sleep(episode.date))
        return done.tree

    def _last(self, tree: Snapshot, view: View, reader: str) -> Ending:
        try:
            done = self._session(3, tree, view, reader)
            if done.cut_short:
                return _ending(reader, Outcome.FAILED, f"{CAPTURE_LIMIT}: S3: {done.cut_short}", Boundary.AGENT)
            self.context.reach("s3:score")
            delta = classify(changes(tree, done.tree), self.trap.spec.allow, self.trap.fixture.spec.roots)
            return self.context.scorer.end(
                self.trap, self.history, self.draw, reader, tree, delta, done.result.timed_out
            )
        except (Fault, SandboxError, OSError) as error:
            fault = as_fault(error)
            return _ending(reader, BOUNDARIES[fault.boundary].outcome or Outcome.INVALID, fault.reason, fault.boundary)

    # -- one session -----------------------------------------------------------------------------------------

    def _session(self, step: int, tree: Snapshot, view: View, reader: str) -> Finished:
        context, session = self.context, self.trap.spec.session[step - 1]
        text = self.trap.texts[session.prompt]
        prompt = f"{text.rstrip()}\n\n{render(view, session.date)}"
        script = Script(self.trap.playbook, context.scorer.solution(self.trap, self.history, self.draw, tree))
        level = reader if reader not in ("", "-") else "careful"
        task = Task(step, prompt, context.store.session_tar(tree), level, context.limits, script)
        context.reach(f"s{step}:run")
        done = run_session(
            context.sandbox, context.store, context.agent, task, "" if not view.items else prompt[len(text) :]
        )
        context.reach(f"s{step}:captured")
        check = None
        if not done.cut_short and session.check:
            check = context.checks.run(context.sandbox, done.tree, done.tree_id, session.check, context.limits)
        if step < 3:
            self.warm_up.append(check.passed if check else None)
        self._emit(step, reader, tree, view, prompt, done, check)
        if context.agent.own_fault and done.result.exit != 0 and not done.result.timed_out:
            tail = (done.result.stderr or done.result.stdout).decode("utf-8", "replace")[-300:]
            raise Fault(Boundary.TRAP, f"the {context.agent.card.split()[0]} agent broke in S{step}: {tail}")
        return done

    def _emit(
        self, step: int, reader: str, tree: Snapshot, view: View, prompt: str, done: Finished, check: object
    ) -> None:
        folder = self.context.folder
        record = SessionRecord.model_validate(
            {
                "number": step,
                "reader": reader,
                "tree_in": self.context.store.put(tree),
                "tree_out": done.tree_id,
                "carried": done.carried,
                "memory_bytes": memory_bytes(view),
                "prompt": folder.put_blob(prompt.encode()),
                "view": folder.put_blob(self._view_json(view)),
                "transcript": folder.put_blob(done.result.stdout),
                "exit": done.result.exit,
                "timed_out": done.result.timed_out,
                "hit": done.result.hit,
                "active": dict(done.result.active),
                "dropped": done.dropped,
                "check": check,
                "seconds": round(done.seconds, 4),
                "network": "none",
            }
        )
        self.context.emit(self.arm.id, self.attempt, record)

    def _view_json(self, view: View) -> bytes:
        values = [v for v in self.draw.facts.values() if v]
        telling = [r for r in view.rejected if any(v in r.text for v in values)]
        others = [r for r in view.rejected if r not in telling][:_REJECTED_KEPT]
        kept = {"items": [asdict(i) for i in view.items], "rejected": [asdict(r) for r in (*telling, *others)]}
        return json.dumps({**kept, "considered": view.considered}, default=str, ensure_ascii=False, indent=1).encode()

    def _episode(self, step: int, tree: Snapshot, done: Finished) -> Episode:
        session = self.trap.spec.session[step - 1]
        events = self.trap.events(self.history.name, step)
        return Episode(
            number=step,
            repository=self.trap.spec.fixture,
            task=session.task,
            date=session.date,
            prompt=self.trap.texts[session.prompt],
            steps=done.result.stdout.decode("utf-8", "replace"),
            delta=self.context.store.diff(self.context.store.put(tree), done.tree_id).decode("utf-8", "replace"),
            check_passed=bool(self.warm_up[-1]),
            check_output="",
            notes=tuple(items.note(self.trap, event, self.draw) for event in events),
        )

    # -- memory ----------------------------------------------------------------------------------------------

    def _open(self, namespace: Path, last: bool) -> Memory:
        """Instruments show their items in S3 only."""
        evidence = items.items(self.trap, self.trap.evidence(self.history.name), self.draw) if last else ()
        poison = items.items(self.trap, self.trap.poison(self.history.name), self.draw) if last else ()
        condition = self.context.plan.conditions[self.arm.condition]
        return self._ask(lambda: condition.open(Opening(namespace, evidence, poison)))

    def _frozen_view(self) -> View:
        """Freeze the store after S2; S3 reads from a copy, because reading may change a store."""
        memory = self._memory
        assert memory is not None
        files = self._ask(memory.freeze)
        manifest = {name: self.context.folder.put_blob(data) for name, data in sorted(files.items())}
        self.frozen = self.context.folder.put_blob(json.dumps(manifest, sort_keys=True).encode())
        self._ask(memory.close)
        copy = self._space / "copy"
        for name, data in files.items():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        self._memory = reader = self._open(copy, last=True)
        return self._ask(lambda: reader.read(items.query(self.trap, 3), self._budget()))

    def _budget(self) -> Budget:
        return Budget(self.context.config.budget.k, self.context.config.budget.tokens)

    def _ask(self, call: Callable[[], T]) -> T:
        """Whatever a memory raises is the memory's; our disk being full is not."""
        try:
            return call()
        except (Fault, OSError):
            raise
        except MemoryFault as error:
            raise Fault(Boundary.MEMORY, str(error)) from error
        except Exception as error:
            raise Fault(Boundary.MEMORY, f"{type(error).__name__}: {error}") from error

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

    def spoil(self, fault: Fault) -> None:
        """End what has not ended by the table of boundaries."""
        self._end_all(BOUNDARIES[fault.boundary].outcome or Outcome.INVALID, fault.reason, fault.boundary)

    def close(self) -> None:
        """Close the memory and remove its scratch space; neither can change how the arm ended."""
        if self._memory is not None:
            try:
                self._ask(self._memory.close)
            except (Fault, OSError):
                pass  # the store is frozen already; a backend that cannot close has nothing left to lose
        shutil.rmtree(self._space, ignore_errors=True)

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
            receipts=tuple(self.receipts),
            store=self.frozen,
            endings=tuple(self.endings),
            seconds=round(seconds, 4),
            attempt=self.attempt,
        )


def _ending(reader: str, outcome: Outcome, cause: str, boundary: Boundary) -> Ending:
    return Ending(reader=reader, outcome=outcome, cause=cause, boundary=boundary)
