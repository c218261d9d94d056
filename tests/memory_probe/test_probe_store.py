"""The store: what was written stays, damage is found, and nothing damaged is taken for empty."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory_probe.inspect import inspect
from memory_probe.protocol import MemoryFault
from memory_probe.store import raw_log
from memory_probe.store.schema import FILE, VERSION

from .probe_kit import (
    DAY,
    NOW,
    QUERY,
    WIDE,
    episode,
    lived,
    made,
    note,
    problems,
    shown,
    states,
    variant,
)

TEXTS = ["grüße-ab12", "code:\n\n    x = 1\r\ny\t", "ν" * 50, "hyphen-minus‐hyphen", "w " * 10_000, "\x00 \ud800 🙂"]
APPEND_ONLY = ["raw", "memory", "lifecycle", "link"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with rows in every table."""
    old, new = note("Note AB-1001: use `one`."), note("This replaces AB-1001.", 2)
    memory = lived(tmp_path, episode(old), episode(new, day=2))
    memory.read(QUERY, WIDE)
    memory.record(episode(day=3))
    memory.sleep(NOW)
    memory.close()
    return tmp_path / FILE


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_the_database_refuses_to_change_the_past(store: Path, table: str) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as raw:
        before = raw.execute(f"SELECT * FROM {table}").fetchall()
        assert before
        key, last = columns(raw, table)[0], columns(raw, table)[-1]
        row = before[0]
        marks = ", ".join("?" * len(row))
        attempts = [
            (f"UPDATE {table} SET {last} = {last}", ()),
            (f"UPDATE OR REPLACE {table} SET {key} = {key} + 1", ()),
            (f"DELETE FROM {table}", ()),
            (f"DELETE FROM {table} WHERE {key} = (SELECT max({key}) FROM {table})", ()),
            (f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row),
            (f"REPLACE INTO {table} VALUES ({marks})", (len(before) + 1, *row[1:])),
            (f"INSERT OR IGNORE INTO {table} VALUES ({marks})", (len(before) + 5, *row[1:])),
        ]
        for statement, values in attempts[: 7 if table != "lifecycle" else 5]:
            with pytest.raises(sqlite3.IntegrityError):
                raw.execute(statement, values)
        assert raw.execute(f"SELECT * FROM {table}").fetchall() == before


def test_a_raw_row_must_continue_the_chain(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as raw:
        number = raw.execute("SELECT count(*) FROM raw").fetchone()[0] + 1
        with pytest.raises(sqlite3.IntegrityError, match="chain"):
            raw.execute("INSERT INTO raw VALUES (?, '2026-01-01', '{}', '[]', 'elsewhere', 'x')", (number,))


DAMAGE = {
    "a raw row is changed": ("UPDATE raw SET body = replace(body, 'AB-1001', 'AB-1009')", "hash"),
    "a raw row is gone": ("DELETE FROM raw WHERE seq = 2", "missing"),
    "the last raw row is gone": ("DELETE FROM raw WHERE seq = 3", "head"),
    "what was shown is changed": ("UPDATE raw SET viewed = '[]' WHERE seq = 3", "hash"),
    "a memory is changed": ("UPDATE memory SET body = replace(body, 'one', 'two') WHERE id = 1", "hash"),
    "a memory is gone": ("DELETE FROM memory WHERE id = 2", "place"),
    "a standing is changed": (
        "UPDATE standing SET changes = replace(changes, 'superseded', 'active')",
        "does not lead",
    ),
    "a standing is gone": ("DELETE FROM standing WHERE memory = 1", "no standing"),
    "a lifecycle entry is gone": ("DELETE FROM lifecycle WHERE n = 1", "lifecycle"),
    "a link leads nowhere": ("UPDATE link SET target = 99 WHERE n = 1", "nowhere"),
    "a table is gone": ("DROP TABLE link", "schema"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_behind_the_triggers_is_found(store: Path, name: str) -> None:
    assert problems(store.parent) == []
    statement, says = DAMAGE[name]
    with closing(sqlite3.connect(store, isolation_level=None)) as raw:
        triggers = raw.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for trigger, _ in triggers:
            raw.execute(f"DROP TRIGGER {trigger}")
        raw.execute(statement)
        for trigger, sql in triggers:
            if trigger.partition("_")[0] != "link" or name != "a table is gone":
                raw.execute(sql)
    found = problems(store.parent)
    assert found
    assert says in " ".join(p.message for p in found)
    if name not in ("a standing is changed", "a lifecycle entry is gone"):
        with pytest.raises(MemoryFault):
            made(store.parent)


def test_a_store_without_its_triggers_is_refused(store: Path) -> None:
    with closing(sqlite3.connect(store)) as raw:
        raw.execute("DROP TRIGGER raw_no_update")
    assert "schema was changed" in problems(store.parent)[0].message
    with pytest.raises(MemoryFault, match="schema was changed"):
        made(store.parent)


@pytest.mark.parametrize("version", [0, VERSION + 1])
def test_an_unknown_version_is_refused(store: Path, version: int) -> None:
    with closing(sqlite3.connect(store)) as raw:
        raw.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(MemoryFault, match=rf"schema {version} is not known here"):
        made(store.parent)
    assert problems(store.parent)


@pytest.mark.parametrize("data", [b"", b"{broken\n", b"SQLite format 3\x00" + b"\x07" * 4000])
def test_garbage_is_a_fault_and_never_an_empty_view(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(MemoryFault):
        made(tmp_path)
    assert problems(tmp_path)
    with pytest.raises(MemoryFault):
        inspect(tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes() == data


def test_flipped_bytes_are_a_fault_or_change_nothing(store: Path) -> None:
    whole = bytearray(store.read_bytes())
    sound = shown(made(store.parent))
    for place in range(60, len(whole), len(whole) // 60):
        folder = store.parent / f"flip{place}"
        folder.mkdir()
        flipped = bytearray(whole)
        flipped[place] ^= 0x55
        (folder / FILE).write_bytes(flipped)
        try:
            memory = made(folder)
            assert shown(memory) == sound
        except MemoryFault:
            assert problems(folder)


def test_a_store_of_another_variant_is_refused(store: Path) -> None:
    with pytest.raises(MemoryFault, match="opened as"):
        made(store.parent, variant("DF-hybrid"))


def test_texts_come_back_byte_for_byte_also_frozen_elsewhere(tmp_path: Path) -> None:
    memory = lived(tmp_path / "a", episode(*(note(t) for t in TEXTS)), of=variant("DF-raw-only"))
    (tmp_path / "b").mkdir()
    for name, data in memory.freeze().items():
        (tmp_path / "b" / name).write_bytes(data)
    again = made(tmp_path / "b", variant("DF-raw-only"))
    assert [r.text for r in again.records(include_inactive=True)] == TEXTS
    assert set(shown(again)) == set(TEXTS)
    assert problems(tmp_path / "b") == []


def test_a_frozen_store_is_one_file_that_can_be_read_where_nothing_can_be_written(store: Path) -> None:
    memory = made(store.parent)
    ((name, data),) = memory.freeze().items()
    assert name == FILE
    folder = store.parent / "sealed"
    folder.mkdir()
    (folder / FILE).write_bytes(data)
    assert data[18:20] == b"\x01\x01"  # no write-ahead log belongs to it
    with closing(sqlite3.connect(f"file:{folder / FILE}?mode=ro&immutable=1", uri=True)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() != ("wal",)
        assert raw.execute("SELECT count(*) FROM raw").fetchone() == (3,)


def test_freezing_while_open_holds_what_was_committed(tmp_path: Path) -> None:
    memory = made(tmp_path / "a")
    for number in range(5):
        memory.record(episode(note(f"reminder {number}"), day=number))
        memory.sleep(DAY)
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / FILE).write_bytes(memory.freeze()[FILE])
        assert problems(tmp_path / str(number)) == []
        assert shown(made(tmp_path / str(number))) == shown(memory)


def test_a_failing_write_leaves_file_and_memory_as_they_were(tmp_path: Path) -> None:
    memory = lived(tmp_path, episode(note("reminders go out daily")))
    before, frozen = shown(memory), memory.freeze()
    with pytest.raises(MemoryFault):
        memory.forget(99, "no such memory", DAY)
    with pytest.raises(MemoryFault):
        memory.record(episode(note("x", authority=object())))
    assert (shown(memory), memory.freeze()) == (before, frozen)


def test_a_sleep_that_fails_half_way_never_happened(tmp_path: Path) -> None:
    memory = lived(tmp_path, episode(note("Note AB-1001: reminders go to `old`.")))
    memory.record(episode(note("Note AB-1002: reminders go to `new`. This replaces AB-1001.", 2), day=2))
    before, frozen = shown(memory), memory.freeze()
    memory._connection.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON main.link BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    with pytest.raises(MemoryFault, match="disk full"):
        memory.sleep(NOW)
    assert (shown(memory), memory.freeze()) == (before, frozen)
    memory._connection.execute("DROP TRIGGER temp.full")
    memory.sleep(NOW)
    assert states(memory)["Note AB-1001: reminders go to `old`."] == "superseded"
    assert problems(tmp_path) == []


def test_a_forged_row_with_a_hash_of_its_own_is_found(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as raw:
        rows = raw.execute("SELECT * FROM raw ORDER BY seq").fetchall()
        triggers = raw.execute("SELECT name, sql FROM sqlite_schema WHERE name LIKE 'raw%' AND type = 'trigger'")
        kept = triggers.fetchall()
        for name, _ in kept:
            raw.execute(f"DROP TRIGGER {name}")
        (seq, date, body, viewed, prev, _), forged = rows[1], rows[1][2].replace("AB-1001", "AB-1009")
        mark = raw_log._hash(prev, seq, date, forged, viewed)
        raw.execute("UPDATE raw SET body = ?, hash = ? WHERE seq = ?", (forged, mark, seq))
        for _, sql in kept:
            raw.execute(sql)
        assert body != forged
    assert [p.message for p in problems(store.parent)] == ["does not continue the row before it"]


def test_inspection_tells_state_links_evidence_and_lifecycle(store: Path) -> None:
    text = inspect(store)
    for said in (
        "owner T ",
        "episode:1  2026-01-05  demo  mail reminders",
        "memory 1  human_feedback  superseded",
        "    | Note AB-1001: use `one`.",
        "is superseded by memory 3",
        "supersedes memory 1",
        "evidence: episode:1/note:1",
        "consolidate: an event of kind human_feedback",
        "repair: memory 3 replaces it",
    ):
        assert said in text, said
