"""Rebuilding what S3 was shown: each frozen store is opened and read again, in a sandbox, and the views are compared.

An item is compared whole (text, date, type, scope, state, successor, provenance), and so is the number of candidates
considered. Of rejected candidates a run records those that hold a fact's text and the first others; just these are
compared, with their reasons. What the memory held beyond them is not recorded, so it cannot be compared.

Invariant: on the host a store is bytes. What its files are named, and whatever reading them does, stays in a sandbox;
making the question to a memory fills no template. A store that was there and did not give the recorded view is "not
the same", also if it killed or held up its reader: an honest one is read in a second or two.
"""

from __future__ import annotations

import json
import os
import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from containers.sandbox import AGENT, MIB, TASK, Limits, Mount, Sandbox, Spec
from harness import items
from harness.bank import tracers
from harness.bundle.opened import Opened
from harness.draw import Draw
from harness.outcome import UsageFault
from harness.records import ArmRecord, SessionRecord
from harness.replaying.view_answers import Answer, StoredView, answers, difference, said, shown, stored_view
from harness.replaying.view_library import WORKER, library
from harness.replaying.view_worker import KEY_BYTES
from harness.stores import CHUNK, restore_store
from oracles.tars import make_tar
from traps.load import Trap
from traps.schema import Event, History, Poison

SECONDS = 60.0  # that reading one store may take
VIEW_BYTES = 8 * MIB  # of one view
STORE_BYTES = 128 * MIB  # of one store
REJECTED_KEPT = 200  # rejected candidates without a fact's text that `harness.bank` keeps of a view
_BATCH_ARMS, _BATCH_BYTES = 32, 48 * MIB  # of stores that share a sandbox
_DIGEST = 64  # characters of a chunk's name: a manifest cannot name a chunk in fewer
_COMMAND = ("python3", "-I", "-B", f"{AGENT}/{WORKER}")
#: Threads of its own are no help to arrays of this size, and a process with threads cannot be forked safely.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Rebuilt:
    """One arm. `same` is None when its view could not be rebuilt here; `why` says so, or what differs ("" if same)."""

    arm: str
    same: bool | None
    why: str


@dataclass(frozen=True)
class _Wanted:
    """An arm whose store is read: what the worker is asked, the files, and the recorded view of each reader level."""

    arm: str
    job: Mapping[str, Any]
    files: tuple[bytes, ...]
    recorded: Mapping[str, StoredView]

    @property
    def size(self) -> int:
        return sum(map(len, self.files))


class _CannotRebuild(Exception):
    """Why an arm's view is not rebuilt here."""


def rebuild(run: Opened, sandbox: Sandbox, records: Sequence[ArmRecord], seconds: float = SECONDS) -> Iterator[Rebuilt]:
    """One Rebuilt a record, in order. `seconds` is what reading one store may take.

    Raises SandboxError when the sandbox broke, and LookupError when a package that reading needs is not installed.
    """
    workers = os.cpu_count() or 1
    waiting: deque[Future[list[Rebuilt]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for batch in _batches(_prepared(run, records)):
                waiting.append(pool.submit(_settled, sandbox, batch, seconds))
                if len(waiting) > workers:  # each holds the bytes of its stores
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


# -- what is asked -------------------------------------------------------------------------------------------


def _prepared(run: Opened, records: Iterable[ArmRecord]) -> Iterator[_Wanted | Rebuilt]:
    for record in records:
        try:
            yield _wanted(run, record)
        except _CannotRebuild as why:
            yield Rebuilt(record.arm, None, str(why))
        except UsageFault as error:  # it names a file, and with it the host's folders
            yield Rebuilt(record.arm, None, f"cannot be read: {shown(str(error).rpartition(': ')[2])}")


def _wanted(run: Opened, record: ArmRecord) -> _Wanted | Rebuilt:
    last = [session for session in run.sessions(record) if session.number == 3]
    if not last:
        raise _CannotRebuild("the arm has no S3")
    if run.config.delivery == "pull":
        raise _CannotRebuild("the agent asked for it")
    if not record.store:
        raise _CannotRebuild("no store was frozen")
    job = _job(run, record)
    # what a manifest makes up is bounded before it is made up: each chunk has its name there
    if len(run.folder.get_blob(record.store)) // _DIGEST * CHUNK > STORE_BYTES:
        raise _CannotRebuild(f"the store may be larger than {STORE_BYTES // MIB} MiB")
    files = restore_store(run.folder, record.store)
    recorded = {session.reader: _recorded(run, session) for session in last}
    if strange := [reader for reader, view in recorded.items() if view is None]:
        return Rebuilt(record.arm, False, f"what is recorded for reader {shown(strange[0])} is no view")
    views = {reader: view for reader, view in recorded.items() if view is not None}
    return _Wanted(record.arm, {**job, "files": list(files)}, tuple(files.values()), views)


def _recorded(run: Opened, session: SessionRecord) -> StoredView | None:
    data = run.folder.get_blob(session.view)
    return stored_view(data) if len(data) <= VIEW_BYTES else None


def _job(run: Opened, record: ArmRecord) -> dict[str, Any]:
    """What the worker is told of an arm, without the files."""
    card = run.stored.meaning.get("conditions", {}).get(record.condition)
    if not isinstance(card, dict):
        raise _CannotRebuild("the plan has no card of the condition")
    trap, draw = run.traps.get(record.trap), run.draws.get((record.trap, record.seed))
    if trap is None:
        raise _CannotRebuild("the trap is not there")
    if draw is None:
        raise _CannotRebuild("the facts are not there")
    try:
        history = trap.history(record.history)
        telling = [tracer.text for tracer in tracers(trap, history, draw)]
        instrument = card.get("instrument") is True
        notes = _notes(trap, history, draw) if instrument else {"notes": {}}
    except KeyError as error:
        raise _CannotRebuild(f"the trap or its facts have no {shown(str(error))}") from error
    ask = items.query(trap, 3)
    return {
        "code": record.condition,
        "version": str(card.get("version")),
        "instrument": instrument,
        "query": {**asdict(ask), "now": ask.now.isoformat()},
        "budget": {"k": run.config.budget.k, "tokens": run.config.budget.tokens},
        "telling": telling,
        **notes,
    }


def _notes(trap: Trap, history: History, draw: Draw) -> dict[str, Any]:
    """What an instrument shows, as templates and slots. They are filled in the sandbox."""

    def plain(note: Event | Poison) -> dict[str, Any]:
        return {
            "id": note.id,
            "template": trap.texts[note.text],
            "date": note.date.isoformat(),
            "kind": note.kind,
            "files": note.scope.files,
            "symbols": note.scope.symbols,
            "task": note.scope.task,
        }

    shown_by: dict[str, Sequence[Event | Poison]] = {
        "evidence": trap.evidence(history.name),
        "poison": trap.poison(history.name),
    }
    notes = {name: [plain(note) for note in found] for name, found in shown_by.items()}
    return {"notes": notes, "facts": dict(draw.facts), "refs": dict(draw.refs)}


def _batches(found: Iterable[_Wanted | Rebuilt]) -> Iterator[list[_Wanted | Rebuilt]]:
    batch: list[_Wanted | Rebuilt] = []
    size = 0
    for one in found:
        more = one.size if isinstance(one, _Wanted) else 0
        if batch and (len(batch) == _BATCH_ARMS or size + more > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += more
    if batch:
        yield batch


# -- what is answered ----------------------------------------------------------------------------------------


def _settled(sandbox: Sandbox, batch: Sequence[_Wanted | Rebuilt], seconds: float) -> list[Rebuilt]:
    """A batch in one sandbox. A store that ends the sandbox costs the others nothing: what is left without an answer
    is asked again, each in a sandbox of its own."""
    wanted = [one for one in batch if isinstance(one, _Wanted)]
    judged = iter(_asked(sandbox, wanted, seconds))
    return [next(judged) if isinstance(one, _Wanted) else one for one in batch]


def _asked(sandbox: Sandbox, wanted: Sequence[_Wanted], seconds: float) -> list[Rebuilt]:
    if not wanted:
        return []
    key = secrets.token_bytes(KEY_BYTES)
    result = sandbox.run(_spec(wanted, key, seconds))
    found = answers(result.stdout, key, len(wanted))
    if found is None:
        last = result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return [Rebuilt(one.arm, None, f"no store can be read in this sandbox: {shown(last)}") for one in wanted]
    if len(wanted) > 1:
        return [
            _judged(one, found[n], seconds) if n in found else _asked(sandbox, [one], seconds)[0]
            for n, one in enumerate(wanted)
        ]
    if not found:
        hit = f" ({', '.join(result.hit)})" if result.hit else ""
        return [Rebuilt(wanted[0].arm, False, f"reading the store ended the sandbox{hit}")]
    return [_judged(wanted[0], found[0], seconds)]


def _spec(wanted: Sequence[_Wanted], key: bytes, seconds: float) -> Spec:
    request = {
        "seconds": seconds,
        "bytes": VIEW_BYTES,
        "kept": REJECTED_KEPT,
        "jobs": [one.job for one in wanted],
    }
    # files go in under numbers: their names are another's words, and are put to use inside only
    files = {f"{n}/{k}": data for n, one in enumerate(wanted) for k, data in enumerate(one.files)}
    tools = library(any(one.job["instrument"] for one in wanted))
    limits = Limits(
        wall=60.0 + seconds * len(wanted),
        memory=2048 * MIB,
        disk=3 * STORE_BYTES,
        output=min(len(wanted), 8) * 2 * VIEW_BYTES,
    )
    mounts = {AGENT: Mount(tools), TASK: Mount(make_tar(files))}
    return Spec(_COMMAND, key + json.dumps(request).encode(), mounts, env=_ENVIRONMENT, cwd="/", limits=limits)


_UNFIT = {
    "unknown": "the condition is of another package, which is not in the sandbox",
    "version": "the condition was recorded in another version than the one that is here",
    "extra": "the condition needs an extra of this package, which is not in the sandbox",
}


def _judged(one: _Wanted, answer: Answer, seconds: float) -> Rebuilt:
    if answer.end in _UNFIT:
        return Rebuilt(one.arm, None, _UNFIT[answer.end])
    if answer.end == "said":
        return _compared(one, answer.said)
    ended = {
        "late": f"the store was not read within {seconds:g} s",
        "long": f"the store gave a view of more than {VIEW_BYTES // MIB} MiB",
        "died": f"the store ended its reader: {shown(answer.said)}",
    }
    return Rebuilt(one.arm, False, ended[answer.end])


def _compared(one: _Wanted, text: str) -> Rebuilt:
    given = said(text)
    if given is None:
        return Rebuilt(one.arm, False, "the store's reader gave no view")
    if given.view is None:
        return Rebuilt(one.arm, False, f"the store cannot be read: {shown(given.fault or '')}")
    for reader, recorded in one.recorded.items():
        if found := difference(recorded, given.view):
            level = f"reader {shown(reader)}: " if len(one.recorded) > 1 else ""
            return Rebuilt(one.arm, False, level + found)
    return Rebuilt(one.arm, True, "")
