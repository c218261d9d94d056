"""Reflections, summaries, subtask memories and the tracker: events first and whole, nothing lost without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_probe.protocol import MemoryFault, Note, Scope, count_tokens

from .ladder_kit import DAY, QUERY, WIDE, Told, episode, held, note, opened, refrozen, shown

ALL = ["B3", "B4", "B6", "B7"]
TOLD: Told = {"prompt": "please send mail", "steps": "step " * 300, "delta": "+mail\n" * 300}


@pytest.mark.parametrize("code", ALL)
def test_no_event_is_cut_where_the_events_of_a_session_fit(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path / "a")
    first = [note(f"mail {n}: grüße\r\n\r\n\tx = {n} \r\n" + "w " * 30, n, task=f"t{n}") for n in range(5)]
    memory.record(episode(*first, **TOLD))
    view = "\n".join(shown(memory))
    assert all(n.text in view for n in first)
    refrozen(memory, tmp_path / "b")
    for again in (opened(code, tmp_path / "a"), opened(code, tmp_path / "b")):
        assert (held(again), shown(again)) == (held(memory), shown(memory))


@pytest.mark.parametrize("code", ALL)
def test_events_come_first_records_keep_their_words_and_the_rest_is_named(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path)
    late = "late " * 200
    receipts = memory.record(episode(note("mail first"), note("big " * 100), note(late), **TOLD))
    kept = [r.text for r in receipts if r.status == "ok"]
    assert kept == [r.text for r in held(memory)]
    assert kept[0].startswith("mail first\n\nbig")
    assert all(count_tokens(text) <= 250 for text in kept)
    left = {r.text: r.why for r in receipts if r.status == "rejected"}
    assert late in left
    assert TOLD["steps"] in left
    assert all("words" in why for why in left.values())


@pytest.mark.parametrize("code", ALL)
def test_an_item_shows_the_date_of_its_session_and_neither_state_nor_files(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path)
    memory.record(episode(note("mail is post", 1, ("src/a.py",), "lists"), day=1))
    item = next(i for i in memory.read(QUERY, WIDE).items if "post" in i.text)
    assert (item.date, item.state, item.type) == (note("", 1).date, None, None)
    assert item.scope == (Scope(task="lists") if code == "B6" else Scope())


def test_a_reflection_tells_how_it_went_and_a_summary_what_was_asked(tmp_path: Path) -> None:
    texts = {}
    for code in ("B3", "B4"):
        memory = opened(code, tmp_path / code)
        memory.record(episode(note("mail"), prompt="ask " * 150, steps="step " * 150))
        (texts[code],) = (r.text for r in held(memory))
    assert texts["B3"].startswith("mail\n\ncheck: passed")
    assert "step step" in texts["B3"]
    assert "ask" not in texts["B3"]
    assert texts["B4"].startswith("mail\n\nask ask")
    assert "step" not in texts["B4"]


def by_task(*tasks: str) -> list[Note]:
    return [note(f"mail {n} of {task}", n, task=task) for n, task in enumerate(tasks)]


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ((), [("mail", [])]),
        (("a",), [("a", [0]), ("mail", [])]),
        (("a", "b", "a"), [("a", [0, 2]), ("b", [1]), ("mail", [])]),
        (("a", "mail", "b"), [("a", [0]), ("mail", [1]), ("b", [2])]),
        (("", "a"), [("mail", [0]), ("a", [1])]),
        (("a", "b", "c", "d", "a"), [("a", [0, 4]), ("b", [1]), ("", [2, 3])]),
    ],
)
def test_subtask_memories_are_at_most_three_a_session_by_task(
    tasks: tuple[str, ...], expected: list[tuple[str, list[int]]], tmp_path: Path
) -> None:
    memory = opened("B6", tmp_path)
    notes = by_task(*tasks)
    memory.record(episode(*notes, prompt="asked for mail"))
    items = memory.read(QUERY, WIDE).items
    assert sorted((i.scope.task, [n for n, e in enumerate(notes) if e.text in i.text]) for i in items) == sorted(
        expected
    )
    assert [i.scope.task for i in items if "asked for mail" in i.text] == [
        "mail" if any(task == "mail" for task, _ in expected) else "a"
    ]


def test_the_tracker_is_one_text_that_evolves_newest_on_top(tmp_path: Path) -> None:
    memory = opened("B7", tmp_path)
    memory.record(episode(note("mail is on"), prompt="first task"))
    memory.record(episode(note("mail is off", 7), number=2, day=7, prompt="second task"))
    (item,) = memory.read(QUERY, WIDE).items
    assert item.date == note("", 7).date
    places = [item.text.index(t) for t in ("mail is off", "mail is on", "check: passed", "second task", "first task")]
    assert places == sorted(places)
    assert [r.state for r in held(memory)] == ["superseded", "unknown"]
    assert [r.text for r in held(memory, include_inactive=False)] == [item.text]


def test_what_falls_off_the_tracker_is_named_and_old_events_outlive_work(tmp_path: Path) -> None:
    memory = opened("B7", tmp_path)
    memory.record(episode(note("old " * 100), steps="step " * 140))
    receipts = memory.record(episode(note("new " * 120, 7), number=2, day=7))
    (text,) = shown(memory)
    assert text.startswith("new " * 120 + "\n\n" + "old " * 100)
    assert "step" not in text
    assert [r.text for r in receipts if r.status == "rejected"] == ["step " * 140]
    receipts = memory.record(episode(note("last " * 60, 9), number=3, day=9))
    assert "old " * 100 in [r.text for r in receipts if r.status == "rejected"]


@pytest.mark.parametrize("code", ALL)
def test_a_damaged_store_is_a_fault_in_every_call(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path)
    memory.record(episode(note("mail is 77")))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b"is 77", b"is 78"))
    for call in (
        lambda: memory.read(QUERY, WIDE),
        lambda: held(memory),
        memory.freeze,
        lambda: memory.record(episode(note("more"))),
    ):
        with pytest.raises(MemoryFault, match="line 1"):
            call()


@pytest.mark.parametrize("code", ALL)
def test_a_session_without_events_is_remembered_too(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path)
    memory.record(episode(prompt="send mail"))
    assert any("send mail" in text for text in shown(memory))
    assert memory.read(QUERY, WIDE).items[0].date == DAY
