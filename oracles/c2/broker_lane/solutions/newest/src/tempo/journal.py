"""The journal: one JSON object a line, appended, never rewritten.

A line is written with a single call, so two schedulers that meet by accident
interleave whole entries.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from tempo.errors import JournalError
from tempo.model import Outcome


@dataclass(frozen=True)
class Entry:
    """One run: `slot` is when it was due, `ended` when its last attempt was over.

    `lane` is empty in entries of tempo 1.4 and before.
    """

    job: str
    slot: datetime
    ended: datetime
    outcome: Outcome
    attempts: int = 1
    seconds: float = 0.0
    output: str = ""
    lane: str = ""

    def to_line(self) -> str:
        record = asdict(self)
        record["slot"] = self.slot.isoformat()
        record["ended"] = self.ended.isoformat()
        record["outcome"] = self.outcome.value
        return json.dumps(record, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_line(cls, line: str) -> Entry:
        """Raises ValueError, TypeError or KeyError when the line is not an entry."""
        record = json.loads(line)
        record["slot"] = datetime.fromisoformat(record["slot"])
        record["ended"] = datetime.fromisoformat(record["ended"])
        record["outcome"] = Outcome(record["outcome"])
        return cls(**record)


class Journal:
    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, entry: Entry) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(entry.to_line() + "\n")

    def __iter__(self) -> Iterator[Entry]:
        """Entries in the order they were written; a missing file is an empty journal."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                try:
                    yield Entry.from_line(line)
                except (ValueError, TypeError, KeyError) as error:
                    raise JournalError(number, f"not an entry ({error})") from error

    def has(self, job: str, slot: datetime) -> bool:
        """Was this slot of the job run already, however it ended?"""
        return any(entry.job == job and entry.slot == slot for entry in self)

    def last(self, job: str) -> Entry | None:
        """The entry of the job's latest slot."""
        mine = [entry for entry in self if entry.job == job]
        return max(mine, key=lambda entry: entry.slot, default=None)
