"""Did anything but the declared channel enter a session? The carry manifests against the records and each other.

A memory is told in the prompt, or (in a run that pulls) by a tool, or stands in the directory of an agent that keeps
notes itself. Invariant: the rows of a manifest are exactly those that a session has, and rows that no memory can touch
are the same for every condition of a trap; only an agent that keeps notes is started with words of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import kept
from harness.records import SessionRecord
from harness.verification.case import Case

MEMORY, PROMPT = "memory in prompt", "prompt"
ROWS = ("mount /agent", "mount /task", "mount /work", PROMPT, MEMORY, "command", "environment")
LAYER = "layer /opt/agent"
#: Of agents whose programs are installed, and of those that keep notes of their own.
ALSO = (LAYER, kept.ROW)
#: Rows that no memory can touch. The mount of the tree holds a packed repository too: its tree is compared by id.
FIXED = ("mount /agent", "command", "environment", LAYER)
#: Conditions that no memory may reach: their sessions carry zero bytes.
EMPTY = ("B0",)


def channel_problems(case: Case) -> Iterator[str]:
    """Rows that nobody declared, and memory where none may be."""
    config = case.stored.meaning.get("config", {})
    pulls, model = config.get("delivery") == "pull", bool(config.get("model.name"))
    for (arm, _), sessions in case.sessions.items():
        condition = arm.split("/")[1] if arm.count("/") == 3 else ""
        for told in sessions:
            yield from _rows(arm, told.record)
            yield from _notes(arm, told.record, kept.keeps(condition))
            yield from _amount(arm, told.record, kept.keeps(condition), pulls)
            if condition in EMPTY and (told.record.memory_bytes or _bytes(told.record, MEMORY)):
                yield f"{where(arm, told.record)}: memory entered a condition that has none"
            if told.record.network != ("none" if told.record.model is None else "model"):
                yield f"{where(arm, told.record)}: the network was {told.record.network[:40]!r}"
            if told.record.model is not None and not model:
                yield f"{where(arm, told.record)}: it called a model, and the plan has none"
            if told.record.model is None and model:
                yield f"{where(arm, told.record)}: the plan has a model, and nothing is told of what was used of it"


def where(arm: str, record: SessionRecord) -> str:
    """A session in words."""
    return f"{arm} S{record.number}" + (f" {record.reader}" if kept.is_debrief(record) else "")


def _rows(arm: str, record: SessionRecord) -> Iterator[str]:
    names = [row.name for row in record.carried]
    if strange := [name for name in names if name not in (*ROWS, *ALSO)]:
        yield f"{where(arm, record)}: {strange[0][:60]!r} entered the sandbox and is not declared"
    if sorted(names) != sorted({*ROWS, *names}) and not strange:
        yield f"{where(arm, record)}: the carry manifest has not each of its rows once"


def _notes(arm: str, record: SessionRecord, keeps: bool) -> Iterator[str]:
    """A directory of notes goes in and comes out in conditions that the agent keeps, and in no other."""
    told = (kept.row(record) is not None, record.memory_in is not None, record.memory_out is not None)
    if any(told) and not keeps:
        yield f"{where(arm, record)}: a directory of notes in a condition that the agent does not keep"
    if not all(told) and keeps:
        yield f"{where(arm, record)}: the agent keeps the memory, and its directory of notes is not told"


def _amount(arm: str, record: SessionRecord, keeps: bool, pulls: bool) -> Iterator[str]:
    """What is told of the amount, against the rows that brought it."""
    shown, told = _bytes(record, MEMORY), record.memory_bytes
    if pulls and shown:
        yield f"{where(arm, record)}: memory stands in the prompt of a run in which the agent asks for it"
    elif pulls and told and not keeps and not (record.model and record.model.pulled):
        yield f"{where(arm, record)}: {told} bytes of memory are told and nothing was asked"
    elif keeps and told > shown + _bytes(record, kept.ROW):
        yield f"{where(arm, record)}: {told} bytes of memory are told, more than prompt and notes can hold"
    elif not keeps and not pulls and (bool(shown) != bool(told) or shown < told):
        yield f"{where(arm, record)}: {told} bytes of memory are told and {shown} were carried"


def _bytes(record: SessionRecord, name: str) -> int:
    return sum(row.bytes for row in record.carried if row.name == name)


def shared_problems(case: Case) -> Iterator[str]:
    """What a session starts with is the same for every condition: S1's tree, agent, command, environment.

    An agent that keeps notes may be started with other words, and is compared with itself.
    """
    first: dict[tuple[object, ...], tuple[str, str]] = {}
    for (arm, _), sessions in case.sessions.items():
        trap, keeps = arm.partition("/")[0], bool(arm.count("/") == 3 and kept.keeps(arm.split("/")[1]))
        for told in sessions:
            record = told.record
            same: dict[tuple[object, ...], str] = {
                (trap, record.number, record.reader, keeps, row.name): row.sha256
                for row in record.carried
                if row.name in FIXED
            }
            same["run", LAYER] = next((row.sha256 for row in record.carried if row.name == LAYER), "")
            if record.number == 1 and not kept.is_debrief(record):
                same[trap, "tree"] = record.tree_in
            for key, digest in same.items():
                seen = first.setdefault(key, (arm, digest))
                if seen[1] != digest:
                    yield f"{where(arm, record)}: {key[-1]} is not what {seen[0]} was given"
