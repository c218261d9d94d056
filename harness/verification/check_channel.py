"""Did anything but the declared channel enter a session? The carry manifests against the records and each other.

Invariant: the rows of a manifest are exactly those that a session has, and rows that no memory can touch are the same
for every condition of a trap.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.records import SessionRecord
from harness.verification.case import Case

MEMORY, PROMPT = "memory in prompt", "prompt"
ROWS = ("mount /agent", "mount /task", "mount /work", PROMPT, MEMORY, "command", "environment")
#: Of agents whose programs are installed, and of those that keep notes of their own.
ALSO = ("layer /opt/agent", "mount /memory")
#: Rows that no memory can touch. The mount of the tree holds a packed repository too: its tree is compared by id.
FIXED = ("mount /agent", "command", "environment", "layer /opt/agent")
#: Conditions that no memory may reach: their sessions carry zero bytes.
EMPTY = ("B0",)


def channel_problems(case: Case) -> Iterator[str]:
    """Rows that nobody declared, and memory where none may be."""
    for (arm, _), sessions in case.sessions.items():
        for told in sessions:
            yield from _rows(arm, told.record)
            condition = arm.split("/")[1] if arm.count("/") == 3 else ""
            if condition in EMPTY and (told.record.memory_bytes or _bytes(told.record, MEMORY)):
                yield f"{arm} S{told.record.number}: memory entered a condition that has none"
            if told.record.network != ("none" if told.record.model is None else "model"):
                yield f"{arm} S{told.record.number}: the network was {told.record.network[:40]!r}"
            if told.record.model is not None and not case.stored.meaning.get("config", {}).get("model.name"):
                yield f"{arm} S{told.record.number}: it called a model, and the plan has none"


def _rows(arm: str, record: SessionRecord) -> Iterator[str]:
    names = [row.name for row in record.carried]
    where = f"{arm} S{record.number}"
    if strange := [name for name in names if name not in (*ROWS, *ALSO)]:
        yield f"{where}: {strange[0][:60]!r} entered the sandbox and is not declared"
    if sorted(names) != sorted({*ROWS, *names}) and not strange:
        yield f"{where}: the carry manifest has not each of its rows once"
    shown, told = _bytes(record, MEMORY), record.memory_bytes
    if bool(shown) != bool(told) or shown < told:
        yield f"{where}: {told} bytes of memory are told and {shown} were carried"


def _bytes(record: SessionRecord, name: str) -> int:
    return sum(row.bytes for row in record.carried if row.name == name)


def shared_problems(case: Case) -> Iterator[str]:
    """What a session starts with is the same for every condition: S1's tree, agent, command, environment."""
    first: dict[tuple[str, ...], tuple[str, str]] = {}
    for (arm, _), sessions in case.sessions.items():
        for told in sessions:
            trap, number, reader = arm.partition("/")[0], str(told.record.number), told.record.reader
            same = {row.name: row.sha256 for row in told.record.carried if row.name in FIXED}
            if number == "1":
                same["tree"] = told.record.tree_in
            for name, digest in same.items():
                seen = first.setdefault((trap, number, reader, name), (arm, digest))
                if seen[1] != digest:
                    yield f"{arm} S{number}: {name} is not what {seen[0]} was given"
