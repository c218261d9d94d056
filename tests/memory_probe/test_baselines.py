"""The simple conditions keep every byte and leave out only by their stated policy."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_probe.ladder import Opening, conditions
from memory_probe.protocol import Budget, Episode, Memory, MemoryFault, Note, Query, Scope, ViewItem, count_tokens

DAY = dt.date(2026, 1, 5)
QUERY = Query("send reminders to the mail channel", ("src/a.py",), ("notify",), "demo", "mail", dt.date(2026, 2, 1))


def note(text: str, day: int = 0, files: tuple[str, ...] = ()) -> Note:
    return Note(text, "human_feedback", "desk", 2, DAY + dt.timedelta(day), None, Scope(files))


def episode(*notes: Note) -> Episode:
    return Episode(1, "demo", "mail", DAY, "prompt", "steps", "diff", True, "", notes)


def opened(code: str, folder: Path, **items: tuple[ViewItem, ...]) -> Memory:
    return conditions()[code].open(Opening(folder, **items))


TEXTS = ["grüße-ab12cd34ef56", "code:\n\n    x = 1\r\ny\t", "ν" * 50, "hyphen-minus‐hyphen", "w " * 9_000]


@pytest.mark.parametrize("code", ["B5", "ALL"])
def test_texts_come_back_byte_for_byte_also_after_a_restart(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path)
    receipts = memory.record(episode(*(note(f"mail {t}") for t in TEXTS)))
    assert [r.status for r in receipts] == ["ok"] * len(TEXTS)
    again = opened(code, tmp_path)
    held = again.records(include_inactive=True)
    assert [r.text for r in held] == [f"mail {t}" for t in TEXTS]  # type: ignore[union-attr]
    shown = again.read(QUERY, Budget(99, 99_999)).items
    assert {i.text for i in shown} == {f"mail {t}" for t in TEXTS}


def test_b5_ranks_words_found_then_scope_path_then_newest(tmp_path: Path) -> None:
    memory = opened("B5", tmp_path)
    few = note("mail", 9)
    many = note("reminders to the mail channel", 1)
    scoped = note("mail", 0, ("src/a.py",))
    memory.record(episode(few, many, scoped, note("mail", 5), note("nothing of it", 3)))
    view = memory.read(QUERY, Budget())
    assert [(i.text, i.date) for i in view.items] == [
        ("mail", scoped.date),
        (many.text, many.date),
        ("mail", few.date),
        ("mail", DAY + dt.timedelta(5)),
    ]
    assert view.considered == 5


def test_b5_stops_at_k_and_all_at_the_token_budget(tmp_path: Path) -> None:
    notes = [note(f"mail {'x ' * 99}{i}", i) for i in range(20)]
    b5, everything = opened("B5", tmp_path / "a"), opened("ALL", tmp_path / "b")
    for memory in (b5, everything):
        memory.record(episode(*notes))
    assert [i.date for i in b5.read(QUERY, Budget()).items] == [n.date for n in reversed(notes[-6:])]
    view = everything.read(QUERY, Budget())
    assert [i.text for i in view.items] == [n.text for n in notes[: 1200 // 101]]
    assert all("budget" in r.why for r in view.rejected)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 400), max_size=15), st.integers(1, 8), st.integers(1, 1500))
def test_a_view_never_exceeds_its_budget(sizes: list[int], k: int, tokens: int) -> None:
    import tempfile

    for code in ("B5", "ALL"):
        with tempfile.TemporaryDirectory() as folder:
            memory = opened(code, Path(folder))
            memory.record(episode(*(note("mail " * size) for size in sizes)))
            view = memory.read(QUERY, Budget(k, tokens))
            assert sum(count_tokens(i.text) for i in view.items) <= tokens
            assert code == "ALL" or len(view.items) <= k
            assert len(view.items) + len(view.rejected) == len(sizes)


def test_b0_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    memory = opened("B0", tmp_path)
    assert [r.status for r in memory.record(episode(note("mail")))] == ["rejected"]
    assert memory.read(QUERY, Budget()).items == ()
    assert memory.freeze() == {}


def test_instruments_show_their_own_items_and_remember_nothing(tmp_path: Path) -> None:
    items = (ViewItem("one"), ViewItem("two"))
    evidence = opened("EVIDENCE", tmp_path, evidence=items, poison=())
    assert evidence.read(QUERY, Budget(1, 1)).items == items
    assert opened("POISON", tmp_path, evidence=items, poison=()).read(QUERY, Budget()).items == ()


def test_freeze_opens_again_elsewhere(tmp_path: Path) -> None:
    memory = opened("B5", tmp_path / "a")
    memory.record(episode(note("mail channel")))
    (tmp_path / "b").mkdir()
    for name, data in memory.freeze().items():
        (tmp_path / "b" / name).write_bytes(data)
    assert [i.text for i in opened("B5", tmp_path / "b").read(QUERY, Budget()).items] == ["mail channel"]


def test_a_damaged_store_is_a_fault_not_an_empty_view(tmp_path: Path) -> None:
    memory = opened("B5", tmp_path)
    memory.record(episode(note("mail channel")))
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write("{broken\n")
    with pytest.raises(MemoryFault, match="line 2"):
        memory.read(QUERY, Budget())


def test_until_and_scope_survive(tmp_path: Path) -> None:
    memory = opened("ALL", tmp_path)
    full = replace(note("mail", 1, ("src/a.py",)), until=dt.date(2026, 3, 1))
    memory.record(episode(full))
    (shown,) = memory.read(QUERY, Budget()).items
    assert (shown.scope.files, shown.date, shown.type, shown.state) == (
        ("src/a.py",),
        full.date,
        "human_feedback",
        "unknown",
    )
