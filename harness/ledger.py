"""The ledger: one SQLite file (WAL) in which finished sessions and arms are committed, one transaction each.

Only the driver writes it. Invariant: nothing is updated or deleted; an arm may have several attempts, the newest
holds, and an arm without a committed record is owed.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ValidationError

from harness.outcome import Boundary, Fault, Outcome, UsageFault
from harness.records import ArmRecord, SessionRecord
from traps.schema import explain

SCHEMA = 1
_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM)
M = TypeVar("M", bound=BaseModel)
_TABLES = f"""
BEGIN;
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO meta VALUES ('schema', '{SCHEMA}');
CREATE TABLE IF NOT EXISTS session (
    id INTEGER PRIMARY KEY, arm TEXT NOT NULL, attempt INTEGER NOT NULL, at TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS arm (
    id INTEGER PRIMARY KEY, arm TEXT NOT NULL, attempt INTEGER NOT NULL, at TEXT NOT NULL, record TEXT NOT NULL,
    UNIQUE (arm, attempt));
CREATE INDEX IF NOT EXISTS session_arm ON session (arm, attempt);
COMMIT;
"""


class Row(NamedTuple):
    """A committed record as it stands: `at` in ISO 8601, UTC; `record` as JSON."""

    arm: str
    attempt: int
    at: str
    record: str


class Ledger:
    """Open (and create unless `read_only`). Raises UsageFault for a damaged or unknown file, Fault for a full disk."""

    def __init__(self, path: Path, read_only: bool = False) -> None:
        self.path = path
        self._blank = False  # made, but killed before it had tables
        if read_only and not path.exists():
            raise UsageFault(f"{path}: no ledger here")
        if path.exists():
            # looked at first without the right to write: a damaged file stays as it is
            self._db = self._open_to_read()
            if read_only:
                return
            self._db.close()
        try:
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_TABLES)
            self._blank = False
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def _open_to_read(self) -> sqlite3.Connection:
        """A ledger that nobody has open is read as the immutable file it is: looking leaves nothing behind."""
        still = not self.path.with_name(self.path.name + "-wal").exists()
        try:
            return self._checked("immutable=1" if still else "mode=ro")
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def _checked(self, how: str) -> sqlite3.Connection:
        db = sqlite3.connect(f"{self.path.resolve().as_uri()}?{how}", isolation_level=None, uri=True)
        try:
            state = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if state != "ok":
                raise sqlite3.DatabaseError(state)
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            self._blank = not tables
            version = (str(SCHEMA),)
            if tables:
                version = db.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        except BaseException:
            db.close()
            raise
        if version is None or version[0] != str(SCHEMA):
            db.close()
            raise UsageFault(
                f"{self.path}: ledger schema {version and version[0]!r} is not known here (expected {SCHEMA})"
            )
        return db

    def _trouble(self, error: sqlite3.DatabaseError) -> Exception:
        """A full or broken disk is our side's and passes; a damaged file is for a person to mend."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in _DISK:
            return Fault(
                Boundary.LEDGER,
                f"{self.path}: {error} (what is committed is kept; remedy: make room, then dreambench resume "
                f"{self.path.parent})",
            )
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            return UsageFault(f"{self.path}: {error} (remedy: make it writable)")
        return UsageFault(
            f"{self.path}: damaged ledger: {error} (nothing was changed; remedy: restore it from a copy, or move it "
            "away to run every arm again with the same facts)"
        )

    def session(self, arm: str, attempt: int, record: SessionRecord) -> None:
        """Commit one finished session."""
        self._insert("session", arm, attempt, record.model_dump_json())

    def arm(self, record: ArmRecord) -> None:
        """Commit one finished arm."""
        self._insert("arm", record.arm, record.attempt, record.model_dump_json())

    def all_arms(self) -> Iterator[ArmRecord]:
        """Every attempt of every arm, in the order of commitment."""
        for (text,) in self._read("SELECT record FROM arm ORDER BY id"):
            yield _parsed(ArmRecord, text, self.path)

    def rows(self, table: Literal["session", "arm"]) -> Iterator[Row]:
        """Every committed record of every attempt as it stands, in the order of commitment."""
        for arm, attempt, at, text in self._read(f"SELECT arm, attempt, at, record FROM {table} ORDER BY id"):
            yield Row(arm, attempt, at, text)

    def restore(self, table: Literal["session", "arm"], rows: Iterable[Row]) -> None:
        """Put rows of another ledger into this new one, in one transaction."""
        try:
            with self._db:
                self._db.execute("BEGIN")
                self._db.executemany(f"INSERT INTO {table} (arm, attempt, at, record) VALUES (?, ?, ?, ?)", rows)
        except sqlite3.IntegrityError as error:
            raise UsageFault(f"{self.path}: an arm has one attempt twice") from error
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def _insert(self, table: str, arm: str, attempt: int, text: str) -> None:
        now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
        row = (arm, attempt, now, text)
        try:
            self._db.execute(f"INSERT INTO {table} (arm, attempt, at, record) VALUES (?, ?, ?, ?)", row)
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def arms(self) -> Iterator[ArmRecord]:
        """The newest attempt of every arm, in the order of first commit."""
        newest = "SELECT record FROM arm a WHERE attempt = (SELECT max(attempt) FROM arm WHERE arm = a.arm) ORDER BY id"
        for (text,) in self._read(newest):
            yield _parsed(ArmRecord, text, self.path)

    def sessions(self, arm: str, attempt: int) -> list[SessionRecord]:
        """The committed sessions of one attempt, in order."""
        rows = self._read("SELECT record FROM session WHERE arm = ? AND attempt = ? ORDER BY id", (arm, attempt))
        return [_parsed(SessionRecord, text, self.path) for (text,) in rows]

    def all_sessions(self) -> dict[tuple[str, int], list[SessionRecord]]:
        """(arm, attempt) -> its committed sessions in order, of every arm, by one query."""
        found: dict[tuple[str, int], list[SessionRecord]] = {}
        for arm, attempt, text in self._read("SELECT arm, attempt, record FROM session ORDER BY id"):
            found.setdefault((arm, attempt), []).append(_parsed(SessionRecord, text, self.path))
        return found

    def attempts(self) -> dict[str, int]:
        """arm -> number of the newest attempt that left any trace."""
        found: dict[str, int] = {}
        for table in ("arm", "session"):
            for arm, attempt in self._read(f"SELECT arm, max(attempt) FROM {table} GROUP BY arm"):
                found[arm] = max(found.get(arm, 0), attempt)
        return found

    def settled(self) -> set[str]:
        """Arms that are not owed: committed, and at no reader level invalid."""
        return {r.arm for r in self.arms() if all(e.outcome != Outcome.INVALID for e in r.endings)}

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        if self._blank:
            return []
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._trouble(error) from error

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _parsed(model: type[M], text: str, path: Path) -> M:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise UsageFault(f"{path}: a record that this version cannot read: {explain(error)[:300]}") from error
