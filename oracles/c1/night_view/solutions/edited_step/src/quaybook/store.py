"""The statements. Nothing here decides anything; see `service` for the rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from quaybook.model import Berth, Charge, Stay, Vessel
from quaybook.schema import migrate


class Store:
    """One open file. Statements that belong together go into one `transaction`."""

    def __init__(self, path: str | Path = ":memory:") -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("pragma foreign_keys = on")
        migrate(self._db)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    # berths

    def add_berth(self, berth: Berth) -> None:
        self._db.execute("insert or replace into berths values (?, ?)", (berth.name, berth.max_cm))

    def berth(self, name: str) -> Berth | None:
        row = self._db.execute("select * from berths where name = ?", (name,)).fetchone()
        return Berth(row["name"], row["max_cm"]) if row else None

    def free_berths(self, length_cm: int) -> list[Berth]:
        """Berths without an open stay that take a vessel of this length."""
        rows = self._db.execute(
            "select * from berths where max_cm >= ?"
            " and name not in (select berth from stays where closed is null) order by name",
            (length_cm,),
        )
        return [Berth(row["name"], row["max_cm"]) for row in rows]

    # vessels

    def put_vessel(self, vessel: Vessel) -> None:
        """Add a vessel, or write what is new about one that is known."""
        self._db.execute(
            "insert into vessels (reg, name, length_cm, home, insured_until) values (?, ?, ?, ?, ?)"
            " on conflict (reg) do update set name = excluded.name, length_cm = excluded.length_cm,"
            " home = excluded.home, insured_until = excluded.insured_until",
            (vessel.reg, vessel.name, vessel.length_cm, vessel.home, _text(vessel.insured_until)),
        )

    def vessel(self, reg: str) -> Vessel | None:
        row = self._db.execute("select * from vessels where reg = ?", (reg,)).fetchone()
        return _vessel(row) if row else None

    # stays

    def add_stay(self, reg: str, berth: str, opened: date, dues_class: str) -> Stay:
        cursor = self._db.execute(
            "insert into stays (reg, berth, opened, dues_class) values (?, ?, ?, ?)",
            (reg, berth, opened.isoformat(), dues_class),
        )
        return Stay(int(cursor.lastrowid or 0), reg, berth, opened, dues_class)

    def stay(self, number: int) -> Stay | None:
        row = self._db.execute("select * from stays where id = ?", (number,)).fetchone()
        return _stay(row) if row else None

    def open_stays(self) -> list[Stay]:
        rows = self._db.execute("select * from stays where closed is null order by id")
        return [_stay(row) for row in rows]

    def stays_on(self, day: date) -> list[Stay]:
        """Stays that have the night after `day`, by berth."""
        rows = self._db.execute(
            "select * from stays where opened <= ?1 and (closed is null or closed > ?1) order by berth",
            (day.isoformat(),),
        )
        return [_stay(row) for row in rows]

    def stays_within(self, first: date, end: date) -> list[Stay]:
        """Stays with a night after one of the days ``first <= day < end``, by number."""
        rows = self._db.execute(
            "select * from stays where opened < ? and (closed is null or closed > ?) order by id",
            (end.isoformat(), first.isoformat()),
        )
        return [_stay(row) for row in rows]

    def end_stay(self, number: int, closed: date) -> None:
        self._db.execute("update stays set closed = ? where id = ?", (closed.isoformat(), number))

    # board

    def show(self, stay: int, text: str) -> None:
        self._db.execute("insert or replace into board values (?, ?)", (stay, text))

    def hide(self, stay: int) -> None:
        self._db.execute("delete from board where stay = ?", (stay,))

    def board(self) -> list[str]:
        """The lines as the displays read them."""
        return [row["text"] for row in self._db.execute("select text from board order by text")]

    # charges

    def add_charge(self, stay: int, day: date, cents: int, reason: str) -> Charge:
        cursor = self._db.execute(
            "insert into charges (stay, day, cents, reason) values (?, ?, ?, ?)",
            (stay, day.isoformat(), cents, reason),
        )
        return Charge(int(cursor.lastrowid or 0), stay, day, cents, reason)

    def charges(self, since: date, until: date) -> list[Charge]:
        """Charges with ``since <= day < until``, in the order in which they were booked."""
        rows = self._db.execute(
            "select * from charges where day >= ? and day < ? order by id",
            (since.isoformat(), until.isoformat()),
        )
        return [
            Charge(row["id"], row["stay"], date.fromisoformat(row["day"]), row["cents"], row["reason"])
            for row in rows
        ]


def _vessel(row: sqlite3.Row) -> Vessel:
    return Vessel(row["reg"], row["name"], row["length_cm"], bool(row["home"]), _day(row["insured_until"]))


def _stay(row: sqlite3.Row) -> Stay:
    return Stay(
        id=row["id"],
        reg=row["reg"],
        berth=row["berth"],
        opened=date.fromisoformat(row["opened"]),
        dues_class=row["dues_class"],
        closed=_day(row["closed"]),
    )


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _text(day: date | None) -> str | None:
    return day.isoformat() if day else None
