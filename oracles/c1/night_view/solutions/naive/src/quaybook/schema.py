"""The steps by which the tables came about.

`pragma user_version` says how many of them a file has behind it. A step that
was released is never edited: what changes later is a further step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from quaybook.errors import Conflict

Step = Callable[[sqlite3.Connection], None]


def sql(*statements: str) -> Step:
    """A step that is nothing but statements."""

    def run(db: sqlite3.Connection) -> None:
        for statement in statements:
            db.execute(statement)

    return run


STEPS: tuple[Step, ...] = (
    sql(
        "create table berths (name text primary key, max_cm integer not null)",
        "create table vessels (reg text primary key, name text not null, length_cm integer not null,"
        " home integer not null default 0)",
        "create table stays (id integer primary key, reg text not null references vessels(reg),"
        " berth text not null references berths(name), opened text not null, closed text,"
        " dues_class text not null)",
        "create unique index one_stay_a_berth on stays(berth) where closed is null",
        "create unique index one_stay_a_vessel on stays(reg) where closed is null",
    ),
    sql(
        "create table charges (id integer primary key, stay integer not null references stays(id),"
        " day text not null, cents integer not null, reason text not null)",
        "create table board (stay integer primary key references stays(id), text text not null)",
    ),
    sql("alter table vessels add column insured_until text"),
    sql(
        "create view district_nights as select substr(s.berth, 1, 1) as pontoon, s.opened, s.closed,"
        " v.length_cm, v.home from stays s join vessels v on v.reg = s.reg order by s.id",
    ),
)


def migrate(db: sqlite3.Connection) -> int:
    """Bring a file up to date, each step in a transaction of its own; returns how many were taken."""
    done = int(db.execute("pragma user_version").fetchone()[0])
    if done > len(STEPS):
        raise Conflict(f"the file is of a newer quaybook (step {done}, known are {len(STEPS)})")
    for number, step in enumerate(STEPS[done:], start=done + 1):
        db.execute("begin immediate")
        try:
            step(db)
            db.execute(f"pragma user_version = {number}")
            db.execute("commit")
        except BaseException:
            db.execute("rollback")
            raise
    return len(STEPS) - done
