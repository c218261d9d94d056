"""One session of an arm on its stage: from a view to a committed record, or the record of one that was paid before.

A session that called a model costs money. When an arm is begun again, a session that an earlier attempt finished is
taken from its record if it would start from the same trees with the same prompt; everything else is run.

Invariant: what is committed of a session is what happened in it; one that is taken from a record says from which.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from containers.sandbox import Result
from harness import items
from harness.agents.agent import Script, Task
from harness.agents.pull import Pull
from harness.bank import Bank
from harness.door import Used
from harness.outcome import Boundary, Fault
from harness.plan import Arm
from harness.prompts import Prompt, item_from, merged, prompt_of
from harness.records import CheckRecord, SessionRecord
from harness.session import Finished, run_session
from harness.snapshot import Snapshot, from_tar
from memory_probe.files import debrief
from memory_probe.protocol import View
from memory_probe.render import memory_bytes
from traps.load import Trap
from traps.schema import History

if TYPE_CHECKING:
    from harness.arm import Context
    from harness.draw import Draw

Key = tuple[int, str]  # number and reader of a session
DEBRIEF = "debrief"  # in the place of the reader: the further turn after S1 and S2 of an agent that keeps notes


@dataclass(frozen=True)
class _Call:
    """One session as it is to be run."""

    step: int
    reader: str
    tree: Snapshot
    view: View
    prompt: Prompt
    memory: bytes | None
    pulls: bool = False

    @property
    def key(self) -> Key:
        return self.step, self.reader


@dataclass
class Stage:
    """Where the sessions of one attempt at an arm are run. `check` is the public check of the one that was run last."""

    context: Context
    arm: Arm
    attempt: int
    trap: Trap
    history: History
    draw: Draw
    check: CheckRecord | None = None
    paid: Mapping[Key, tuple[int, SessionRecord]] = field(default_factory=dict)  # (attempt, record) that were finished

    def session(self, bank: Bank, step: int, tree: Snapshot, view: View, reader: str) -> Finished:
        """Run a session to its committed record. Raises Fault and SandboxError when our side broke."""
        context, spec = self.context, self.trap.spec.session[step - 1]
        prompt = prompt_of(self.trap.texts[spec.prompt], view, spec.date, context.config.delivery)
        pulls = context.config.delivery == "pull"
        context.reach(f"s{step}:run")
        self.check = None
        done = self._played(bank, _Call(step, reader, tree, view, prompt, bank.directory, pulls), spec.check)
        agent = context.agent
        if agent.own_fault and done.result.exit != 0 and not done.result.timed_out:
            tail = (done.result.stderr or done.result.stdout).decode("utf-8", "replace")[-300:]
            raise Fault(Boundary.TRAP, f"the {agent.card.split()[0]} agent broke in S{step}: {tail}")
        return done

    def debrief(self, bank: Bank, step: int, tree: Snapshot) -> None:
        """The further turn of an agent that keeps notes: what was said after session `step`. Its tree is dropped."""
        if bank.directory is None:
            return
        notes = [items.note(self.trap, event, self.draw) for event in self.trap.events(self.history.name, step)]
        if notes:
            self._played(bank, _Call(step, DEBRIEF, tree, View(), Prompt(debrief(notes), ""), bank.directory), ())

    def _played(self, bank: Bank, call: _Call, check: tuple[str, ...]) -> Finished:
        context = self.context
        if (known := self._paid(call)) is not None:
            return self._again(bank, call, *known)
        spec = self.trap.spec.session[call.step - 1]
        pull = Pull(lambda query: bank.search(call.step, query), spec.date) if call.pulls else None
        task, memory = self._task(call), call.prompt.memory
        done = run_session(context.sandbox, context.store, context.agent, task, memory, context.door, pull)
        context.reach(f"s{call.step}:captured")
        view = call.view
        if pull is not None:
            view = bank.view = merged(shown.view for shown in pull.shown)
        if done.memory is not None:
            bank.keep(done.memory)
        found: CheckRecord | None = None
        if not done.cut_short and check and call.step in context.checked:
            found = self.check = context.checks.run(context.sandbox, done.tree, check, context.limits)
        context.emit(self.arm.id, self.attempt, self._record(bank, call, view, done, found))
        done.used.settled()
        if done.used.trouble is not None:
            raise done.used.trouble
        return done

    def _task(self, call: _Call) -> Task:
        context = self.context
        return Task(
            step=call.step,
            prompt=call.prompt.whole,
            tree=context.store.session_tar(call.tree),
            reader=call.reader if call.reader not in ("", "-", DEBRIEF) else "careful",
            limits=context.limits,
            script=Script(self.trap.playbook, context.scorer.solution(self.trap, self.history, self.draw, call.tree)),
            memory=call.memory,
            tools=call.pulls,
        )

    def _record(self, bank: Bank, call: _Call, view: View, done: Finished, check: CheckRecord | None) -> SessionRecord:
        folder, store = self.context.folder, self.context.store
        kept = None if done.memory is None else store.put(done.memory)
        return SessionRecord.model_validate(
            {
                "number": call.step,
                "reader": call.reader,
                "tree_in": store.put(call.tree),
                "tree_out": done.tree_id,
                "carried": done.carried,
                "memory_bytes": memory_bytes(view) + done.memory_bytes,
                "prompt": folder.put_blob(call.prompt.whole.encode()),
                "view": folder.put_blob(bank.view_json(view)),
                "transcript": folder.put_blob(done.result.stdout),
                "exit": done.result.exit,
                "timed_out": done.result.timed_out,
                "hit": done.result.hit,
                "active": dict(done.result.active),
                "dropped": done.dropped,
                "check": check,
                "seconds": round(done.seconds, 4),
                "network": "none" if done.used.use is None else "model",
                "model": done.used.use,
                "memory_in": None if call.memory is None else store.put(from_tar(call.memory)[0]),
                "memory_out": kept,
            }
        )

    def _paid(self, call: _Call) -> tuple[int, SessionRecord] | None:
        """What an earlier attempt finished and paid for, if this session would be the same."""
        if (known := self.paid.get(call.key)) is None:
            return None
        record, store = known[1], self.context.store
        same = record.prompt == hashlib.sha256(call.prompt.whole.encode()).hexdigest()
        if not same or record.tree_in != store.put(call.tree):
            return None
        memory = None if call.memory is None else store.put(from_tar(call.memory)[0])
        return known if memory == record.memory_in else None

    def _again(self, bank: Bank, call: _Call, attempt: int, record: SessionRecord) -> Finished:
        """The session as it was, committed once more for this attempt."""
        context = self.context
        if call.pulls:
            kept = json.loads(context.folder.get_blob(record.view))["items"]
            bank.view = View(tuple(item_from(item) for item in kept))
        if record.memory_out is not None:
            bank.keep(context.store.get(record.memory_out))
        result = Result(
            exit=record.exit,
            timed_out=record.timed_out,
            stdout=context.folder.get_blob(record.transcript),
            active=record.active,
            hit=record.hit,
        )
        self.check = record.check
        context.emit(self.arm.id, self.attempt, record.model_copy(update={"paid_in": record.paid_in or attempt}))
        return Finished(
            result=result,
            tree=context.store.get(record.tree_out),
            tree_id=record.tree_out,
            carried=record.carried,
            dropped=record.dropped,
            cut_short="",
            seconds=record.seconds,
            used=Used(record.model),
        )


def paid_sessions(
    sessions: Mapping[tuple[str, int], Iterable[SessionRecord]], owed: Iterable[str]
) -> dict[str, dict[Key, tuple[int, SessionRecord]]]:
    """Of the arms that are owed, the newest of each session that was paid for and came to its end, with its attempt.

    `sessions` are all that are committed, by arm and attempt.
    """
    found: dict[str, dict[Key, tuple[int, SessionRecord]]] = {arm: {} for arm in owed}
    for (arm, attempt), records in sorted(sessions.items(), key=lambda item: item[0][1]):
        for record in records:
            if arm in found and record.model is not None and record.tree_out and not record.model.trouble:
                found[arm][record.number, record.reader] = (attempt, record)
    return {arm: known for arm, known in found.items() if known}
