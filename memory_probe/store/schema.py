"""The file: tables, the triggers that refuse to change the past, opening, creating and refusing.

Invariant: in `raw`, `memory`, `lifecycle` and `link` no row can be updated, deleted or replaced, and the next row of
`raw` must continue the chain; the database itself refuses anything else. A file of another version, or one that is
damaged, is a `MemoryFault` and never an empty store.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_probe.protocol import MemoryFault

FILE = "memory.sqlite"
VERSION = 1
APPLICATION = 0x44425357  # "DBSW"
GENESIS = "0" * 64
BUSY_MS = 10_000

_TABLES = {
    "meta": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    "raw": "seq INTEGER PRIMARY KEY, date TEXT NOT NULL, body TEXT NOT NULL, viewed TEXT NOT NULL, "
    "prev TEXT NOT NULL, hash TEXT NOT NULL UNIQUE",
    "memory": "id INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL UNIQUE",
    "lifecycle": "n INTEGER PRIMARY KEY, memory INTEGER NOT NULL REFERENCES memory(id), date TEXT NOT NULL, "
    "operator TEXT NOT NULL, reason TEXT NOT NULL, changes TEXT NOT NULL",
    "link": "n INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES memory(id), "
    "kind TEXT NOT NULL CHECK (kind IN ('supersedes', 'contradicts')), "
    "target INTEGER NOT NULL REFERENCES memory(id), date TEXT NOT NULL, operator TEXT NOT NULL, "
    "UNIQUE (source, kind, target), CHECK (source <> target)",
    "standing": "memory INTEGER PRIMARY KEY REFERENCES memory(id), changes TEXT NOT NULL",
}
_KEYS = {"raw": "seq", "memory": "id", "lifecycle": "n", "link": "n"}
#: What REPLACE could push out: every row that a unique index would find in the way.
_TAKEN = {
    "raw": "seq = NEW.seq OR hash = NEW.hash",
    "memory": "id = NEW.id OR hash = NEW.hash",
    "lifecycle": "n = NEW.n",
    "link": "n = NEW.n OR (source = NEW.source AND kind = NEW.kind AND target = NEW.target)",
}


def statements() -> list[str]:
    """Every statement that makes an empty store, in order."""
    made = [f"CREATE TABLE {name} ({columns}) STRICT" for name, columns in _TABLES.items()]
    for table, key in _KEYS.items():
        for verb in ("UPDATE", "DELETE"):
            made.append(_trigger(f"{table}_no_{verb.lower()}", f"{verb} ON {table}", f"{table} is append-only"))
        # REPLACE deletes without asking a delete trigger, so a taken place is refused before it gets that far
        when = f" WHEN EXISTS (SELECT 1 FROM {table} WHERE {_TAKEN[table]})"
        made.append(_trigger(f"{table}_no_replace", f"INSERT ON {table}{when}", f"{table} is append-only"))
        when = f" WHEN NEW.{key} IS NOT (SELECT coalesce(max({key}), 0) + 1 FROM {table})"
        made.append(_trigger(f"{table}_in_order", f"INSERT ON {table}{when}", f"{table} has no holes"))
    when = f" WHEN NEW.prev IS NOT coalesce((SELECT hash FROM raw ORDER BY seq DESC LIMIT 1), '{GENESIS}')"
    made.append(_trigger("raw_chained", f"INSERT ON raw{when}", "raw continues its chain"))
    return made


def _trigger(name: str, event: str, message: str) -> str:
    return f"CREATE TRIGGER {name} BEFORE {event} BEGIN SELECT RAISE(ABORT, '{message}'); END"


@contextmanager
def guarded(path: Path) -> Iterator[None]:
    """Whatever SQLite or a decoder finds wrong with the store is a MemoryFault."""
    try:
        yield
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        raise MemoryFault(f"store {path.name}: {type(error).__name__}: {error}") from error


def open_store(namespace: Path, owner: str, sound: bool = False) -> sqlite3.Connection:
    """The connection to a namespace's store, which is made when there is none.

    `owner` says which variant writes here; a store of another owner is refused, because its memories were made by
    other rules. `sound`: every byte of the file is known, so its pages need no check. Raises MemoryFault.
    """
    namespace.mkdir(parents=True, exist_ok=True)
    path = namespace / FILE
    if not path.exists():
        _create(path, owner)
    with guarded(path):
        connection = connect(path)
        try:
            problem = foreign(connection, sound) or _unowned(connection, owner)
            if problem:
                raise MemoryFault(f"store {path.name}: {problem}")
            # the switch changes two bytes of the header: no reason to wait until a fresh copy is on the disk
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = WAL")
            # with this log a kill loses nothing; a power cut may lose the last episodes, never a half of one
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """An existing file, with explicit transactions only."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def foreign(connection: sqlite3.Connection, sound: bool = False) -> str:
    """Why a file cannot be used: not ours, another version, changed tables or triggers, damaged; "" if it can.

    `sound` leaves out the check of the pages.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        return "not a memory store"
    if version != VERSION:
        return f"schema {version} is not known here (expected {VERSION})"
    (found,) = ("ok",) if sound else connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        return f"damaged: {found}"
    held = {row[0] for row in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
    if missing := [s for s in statements() if s not in held]:
        return f"its schema was changed: {missing[0][:60]}…"
    return ""


def _unowned(connection: sqlite3.Connection, owner: str) -> str:
    row = connection.execute("SELECT value FROM meta WHERE name = 'owner'").fetchone()
    return "" if row and row[0] == owner else f"written by {row[0] if row else 'nobody'}, opened as {owner}"


def _create(path: Path, owner: str) -> None:
    """Build under another name and move: a store that exists is complete, so an empty file is damage."""
    draft = path.with_name(path.name + ".draft")
    for left in (draft, draft.with_name(draft.name + "-journal")):
        left.unlink(missing_ok=True)
    with guarded(path):
        connection = sqlite3.connect(draft, isolation_level=None)
        try:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("BEGIN")
            for statement in statements():
                connection.execute(statement)
            first = [("owner", owner), ("head", f"0:{GENESIS}"), ("slept", "0")]
            connection.executemany("INSERT INTO meta VALUES (?, ?)", first)
            connection.execute("COMMIT")
        finally:
            connection.close()
    os.replace(draft, path)


def image(connection: sqlite3.Connection) -> bytes:
    """The whole store as one file. Bytes 18 and 19 of the header say whether a write-ahead log belongs to the file;
    an image has none, so they say so and it can be read where nothing can be written."""
    data = memoryview(connection.serialize())
    return b"".join((data[:18], b"\x01\x01", data[20:]))
