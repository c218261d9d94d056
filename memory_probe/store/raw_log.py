"""The raw episode log: what happened, once, in a chain of hashes.

Invariant: row n's hash covers its content and the hash of row n-1, and `meta.head` names the last row, so a changed,
missing or cut-off row is found by walking the chain.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_probe.protocol import Episode, MemoryFault, Note, Scope
from memory_probe.store.schema import GENESIS


@dataclass(frozen=True)
class Recorded:
    """An episode as the log holds it; `viewed` are the ids of the memories that its session was shown."""

    seq: int
    episode: Episode
    viewed: tuple[int, ...]

    @property
    def id(self) -> str:
        return f"episode:{self.seq}"

    @property
    def check_id(self) -> str:
        return f"{self.id}/check"

    def note_id(self, index: int) -> str:
        """The id of the note at `index`, which counts from 1."""
        return f"{self.id}/note:{index}"


def append(connection: sqlite3.Connection, episode: Episode, viewed: Sequence[int]) -> int:
    """Add an episode within the caller's transaction; returns its number."""
    last, prev = head(connection)
    body, shown, date = _episode_text(episode), json.dumps(list(viewed)), episode.date.isoformat()
    mark = _hash(prev, last + 1, date, body, shown)
    connection.execute("INSERT INTO raw VALUES (?, ?, ?, ?, ?, ?)", (last + 1, date, body, shown, prev, mark))
    connection.execute("UPDATE meta SET value = ? WHERE name = 'head'", (f"{last + 1}:{mark}",))
    return last + 1


def head(connection: sqlite3.Connection) -> tuple[int, str]:
    """(number, hash) of the last row that was committed."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'head'").fetchone()
    if row is None:
        raise ValueError("meta has no head")
    number, _, mark = str(row[0]).partition(":")
    return int(number), mark


def since(connection: sqlite3.Connection, seq: int) -> Iterator[Recorded]:
    """Episodes after number `seq`, oldest first."""
    for number, body, shown in connection.execute(
        "SELECT seq, body, viewed FROM raw WHERE seq > ? ORDER BY seq", (seq,)
    ):
        yield Recorded(number, _episode_from(body), tuple(int(i) for i in json.loads(shown)))


def breaks(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(where, what) of every break of the chain, found by computing every hash again."""
    found: list[tuple[str, str]] = []
    expected, prev = 1, GENESIS
    for seq, date, body, shown, before, mark in connection.execute("SELECT * FROM raw ORDER BY seq"):
        where = f"raw {seq}"
        if seq != expected:
            found.append((where, f"row {expected} is missing"))
        if before != prev:
            found.append((where, "does not continue the row before it"))
        if _hash(before, seq, date, body, shown) != mark:
            found.append((where, "its content does not match its hash"))
        expected, prev = seq + 1, mark
    if head(connection) != (expected - 1, prev):
        found.append(("raw", f"ends at row {expected - 1}, the head says {head(connection)[0]}"))
    return found


def require_whole(connection: sqlite3.Connection) -> None:
    """Raises MemoryFault when the chain is broken."""
    for where, what in breaks(connection):
        raise MemoryFault(f"store corrupt: {where}: {what}")


def _hash(prev: str, seq: int, date: str, body: str, viewed: str) -> str:
    return hashlib.sha256(json.dumps([prev, seq, date, body, viewed]).encode()).hexdigest()


def _episode_text(episode: Episode) -> str:
    return json.dumps(vars(episode), default=_plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _episode_from(text: str) -> Episode:
    data = json.loads(text)
    notes = tuple(_note_from(n) for n in data.pop("notes"))
    return Episode(**{**data, "date": dt.date.fromisoformat(data["date"]), "notes": notes})


def _note_from(data: dict[str, object]) -> Note:
    scope, until = data["scope"], data["until"]
    if not isinstance(scope, dict):
        raise TypeError("scope is not an object")
    return Note(
        text=str(data["text"]),
        kind=str(data["kind"]),
        author=str(data["author"]),
        authority=int(str(data["authority"])),
        date=dt.date.fromisoformat(str(data["date"])),
        until=dt.date.fromisoformat(str(until)) if until else None,
        scope=Scope(tuple(scope["files"]), tuple(scope["symbols"]), str(scope["task"])),
    )


def _plain(value: object) -> object:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, (Note, Scope)):
        return vars(value)
    raise TypeError(f"cannot store a {type(value).__name__}")
