"""SQLite store: parcels, scans and the outbox. Each public method is one transaction."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from types import TracebackType

from parcels.errors import InvalidInput, UnknownParcel
from parcels.model import Address, Parcel, Scan, Status

_SCHEMA = """
create table if not exists parcels (
    number text primary key, carrier text not null, sender text not null,
    recipient text not null, grams integer not null, created_on text not null,
    contents text not null, value_cents integer not null, reference text not null,
    status text not null
);
create table if not exists scans (
    id integer primary key, number text not null references parcels(number),
    day text not null, place text not null, status text not null
);
create table if not exists outbox (
    id integer primary key, channel text not null, number text not null,
    subject text not null, body text not null, sent integer not null default 0
);
create index if not exists scans_by_number on scans(number, day);
"""


@dataclass(frozen=True)
class Queued:
    """A message in the outbox."""

    id: int
    channel: str
    number: str
    subject: str
    body: str


class Store:
    def __init__(self, path: str = ":memory:") -> None:
        self._db = sqlite3.connect(path)
        self._db.row_factory = sqlite3.Row
        self._db.execute("pragma foreign_keys = on")
        self._db.executescript(_SCHEMA)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def copy_to(self, path: Path) -> None:
        """Write a complete copy to `path`; nothing is there under that name before it is complete."""
        draft = path.with_name(path.name + ".part")
        draft.unlink(missing_ok=True)
        target = sqlite3.connect(draft)
        try:
            self._db.backup(target)
        finally:
            target.close()
        draft.replace(path)

    # parcels

    def next_serial(self) -> int:
        """One more than the highest serial of any carrier."""
        row = self._db.execute(
            "select coalesce(max(cast(substr(number, 3, 8) as integer)), 0) from parcels"
        ).fetchone()
        return int(row[0]) + 1

    def add(self, parcel: Parcel) -> None:
        try:
            with self._db:
                self._db.execute(
                    "insert into parcels values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _to_row(parcel)
                )
        except sqlite3.IntegrityError:
            raise InvalidInput(f"{parcel.number} is already registered") from None

    def get(self, number: str) -> Parcel:
        row = self._db.execute("select * from parcels where number = ?", (number,)).fetchone()
        if row is None:
            raise UnknownParcel(number)
        return _from_row(row)

    def find(self, status: Status | None = None) -> list[Parcel]:
        """Parcels by day and number, all or those with `status`."""
        rows = self._db.execute(
            "select * from parcels where ?1 is null or status = ?1 order by created_on, number",
            (status.value if status else None,),
        )
        return [_from_row(row) for row in rows]

    # scans

    def record(self, scan: Scan) -> None:
        """Keep a scan and give the parcel its status."""
        self.get(scan.number)
        with self._db:
            self._db.execute(
                "insert into scans (number, day, place, status) values (?, ?, ?, ?)",
                (scan.number, scan.day.isoformat(), scan.place, scan.status.value),
            )
            self._db.execute(
                "update parcels set status = ? where number = ?", (scan.status.value, scan.number)
            )

    def scans(self, number: str) -> list[Scan]:
        """Scans of a parcel, oldest first."""
        rows = self._db.execute("select * from scans where number = ? order by day, id", (number,))
        return [
            Scan(row["number"], date.fromisoformat(row["day"]), row["place"], Status(row["status"]))
            for row in rows
        ]

    # outbox

    def queue(self, channel: str, number: str, subject: str, body: str) -> int:
        with self._db:
            cursor = self._db.execute(
                "insert into outbox (channel, number, subject, body) values (?, ?, ?, ?)",
                (channel, number, subject, body),
            )
        return int(cursor.lastrowid or 0)

    def pending(self) -> list[Queued]:
        """Messages that were not sent yet, oldest first."""
        rows = self._db.execute("select * from outbox where sent = 0 order by id")
        return [
            Queued(row["id"], row["channel"], row["number"], row["subject"], row["body"])
            for row in rows
        ]

    def mark_sent(self, message_id: int) -> None:
        with self._db:
            self._db.execute("update outbox set sent = 1 where id = ?", (message_id,))


def _to_row(parcel: Parcel) -> tuple[object, ...]:
    return (
        parcel.number,
        parcel.carrier,
        json.dumps(asdict(parcel.sender), ensure_ascii=False),
        json.dumps(asdict(parcel.recipient), ensure_ascii=False),
        parcel.grams,
        parcel.created_on.isoformat(),
        parcel.contents,
        parcel.value_cents,
        parcel.reference,
        parcel.status.value,
    )


def _from_row(row: sqlite3.Row) -> Parcel:
    return Parcel(
        number=row["number"],
        carrier=row["carrier"],
        sender=Address(**json.loads(row["sender"])),
        recipient=Address(**json.loads(row["recipient"])),
        grams=row["grams"],
        created_on=date.fromisoformat(row["created_on"]),
        contents=row["contents"],
        value_cents=row["value_cents"],
        reference=row["reference"],
        status=Status(row["status"]),
    )
