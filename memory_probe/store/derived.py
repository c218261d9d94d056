"""The derived store: memories, their lifecycle log and links, written only by appending.

Invariant: a memory's standing is what its lifecycle entries say, replayed in order; the table `standing` is a copy
for speed that `verify` compares. Nothing is ever taken away: deletion is a status.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from dataclasses import dataclass, field

from memory_probe.store.model import (
    Link,
    Memory,
    Standing,
    changed,
    changes_text,
    memory_from,
    memory_hash,
    memory_text,
)
from memory_probe.store.view import StoreView

_USE = {"last_used", "use_count", "outcome_impact"}  # being shown does not make a memory newer


@dataclass(frozen=True)
class Append:
    """A memory to write."""

    memory: Memory
    standing: Standing


@dataclass(frozen=True)
class Change:
    """Fields of a memory's standing to set, and why."""

    memory: int
    changes: dict[str, object]
    reason: str


@dataclass(frozen=True)
class Proposal:
    """What an operator wants done: appends and lifecycle changes and links. Nothing is done by proposing."""

    appends: tuple[Append, ...] = ()
    changes: tuple[Change, ...] = ()
    links: tuple[Link, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.appends) + len(self.changes) + len(self.links)


class Derived:
    """Writes proposals to the file and to the view alike, within the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection, view: StoreView | None = None) -> None:
        """`view` is what the file says, where that is known already; else the file is read."""
        self._connection = connection
        self.view = load(connection) if view is None else view

    def write(self, proposal: Proposal, operator: str, now: dt.date) -> list[int]:
        """Carry out a proposal. Returns the ids of the new memories."""
        born = [self._append(append, operator, now) for append in proposal.appends]
        for change in proposal.changes:
            self._change(change, operator, now)
        for link in proposal.links:
            self._link(link, operator, now)
        return born

    def _append(self, append: Append, operator: str, now: dt.date) -> int:
        number = len(self.view) + 1
        body = memory_text(append.memory)
        row = (number, body, memory_hash(number, body))
        self._connection.execute("INSERT INTO memory VALUES (?, ?, ?)", row)
        birth = changes_text(vars(append.standing))
        self._log(number, operator, append.memory.write_reason, birth, now)
        self._connection.execute("INSERT INTO standing VALUES (?, ?)", (number, birth))
        return self.view.add(append.memory, append.standing)

    def _change(self, change: Change, operator: str, now: dt.date) -> None:
        renewed = {} if change.changes.keys() <= _USE else {"updated": now}
        entry = changes_text({**change.changes, **renewed})
        after = changed(self.view.standing(change.memory), entry)
        self._log(change.memory, operator, change.reason, entry, now)
        state = changes_text(vars(after))
        self._connection.execute("UPDATE standing SET changes = ? WHERE memory = ?", (state, change.memory))
        self.view.put(change.memory, after)

    def _link(self, link: Link, operator: str, now: dt.date) -> None:
        if link in self.view.links:
            return
        row = (link.source, link.kind, link.target, now.isoformat(), operator)
        self._connection.execute("INSERT INTO link SELECT coalesce(max(n), 0) + 1, ?, ?, ?, ?, ? FROM link", row)
        self.view.join(link)

    def _log(self, number: int, operator: str, reason: str, entry: str, now: dt.date) -> None:
        row = (number, now.isoformat(), operator, reason, entry)
        self._connection.execute(
            "INSERT INTO lifecycle SELECT coalesce(max(n), 0) + 1, ?, ?, ?, ?, ? FROM lifecycle", row
        )


def load(connection: sqlite3.Connection) -> StoreView:
    """The view of a file. Raises ValueError, KeyError or TypeError for a damaged one."""
    view = StoreView()
    rows = connection.execute(
        "SELECT id, body, hash, changes FROM memory LEFT JOIN standing ON memory = id ORDER BY id"
    )
    for number, body, mark, state in rows:
        if mark != memory_hash(number, body) or number != len(view) + 1:
            raise ValueError(f"memory {number} does not match its hash or its place")
        if state is None:
            raise ValueError(f"memory {number} has no standing")
        view.add(memory_from(body), changed(Standing(), state))
    for source, kind, target in connection.execute("SELECT source, kind, target FROM link ORDER BY n"):
        if not (1 <= source <= len(view) and 1 <= target <= len(view)):
            raise ValueError(f"link {source} {kind} {target} leads nowhere")
        view.join(Link(source, kind, target))
    return view


def lifecycle(connection: sqlite3.Connection) -> dict[int, list[tuple[str, str, str, str]]]:
    """(date, operator, reason, changes) of every entry, oldest first, by memory."""
    found: dict[int, list[tuple[str, str, str, str]]] = {}
    for number, *entry in connection.execute(
        "SELECT memory, date, operator, reason, changes FROM lifecycle ORDER BY n"
    ):
        found.setdefault(number, []).append((entry[0], entry[1], entry[2], entry[3]))
    return found
