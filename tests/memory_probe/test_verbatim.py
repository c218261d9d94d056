"""The verbatim variants differ from B5 in one policy each."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from memory_probe.lexical import bm25
from memory_probe.protocol import Budget, MemoryFault

from .ladder_kit import QUERY, WIDE, episode, held, note, opened, refrozen, shown

VARIANTS = ["B5", "B5-paper", "B5-recency", "B5-bm25"]
FACT = "the mail channel is post-77"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_b5_paper_differs_from_b5_exactly_where_a_later_event_carries_the_fact(place: int, tmp_path: Path) -> None:
    texts = ["reminders go to the desk", "reminders go out at noon"]
    texts.insert(place, FACT)
    views = {}
    for code in ("B5", "B5-paper"):
        memory = opened(code, tmp_path / code)
        receipts = memory.record(episode(*(note(text, day) for day, text in enumerate(texts))))
        memory.record(episode(note("mail of the second session", 9), number=2, day=9))
        views[code] = shown(memory)
        if code == "B5-paper":
            assert [(r.status, r.text) for r in receipts] == [
                ("ok", texts[0]),
                ("rejected", texts[1]),
                ("rejected", texts[2]),
            ]
            assert "first event" in receipts[1].why
    assert FACT in views["B5"]
    assert (FACT in views["B5-paper"]) == (place == 0)
    assert [text for text in views["B5"] if text in views["B5-paper"]] == views["B5-paper"]


def test_b5_paper_and_b5_are_alike_with_one_event_a_session(tmp_path: Path) -> None:
    views = []
    for code in ("B5", "B5-paper"):
        memory = opened(code, tmp_path / code)
        for number in range(5):
            memory.record(episode(note(f"mail {number} {'channel ' * (number % 2)}", number), number=number))
        views.append(memory.read(QUERY, Budget()))
    assert views[0] == views[1]


def test_recency_puts_the_newest_match_first_whatever_it_says(tmp_path: Path) -> None:
    memory = opened("B5-recency", tmp_path)
    best = note("send reminders to the mail channel", 1, ("src/a.py",))
    memory.record(episode(best, note("mail", 5), note("nothing of it", 9), note("mail, told later that day", 5)))
    assert shown(memory) == ["mail, told later that day", "mail", best.text]
    assert [r.text for r in memory.read(QUERY, WIDE).rejected] == ["nothing of it"]


def test_bm25_prefers_rare_words_and_short_records(tmp_path: Path) -> None:
    memory = opened("B5-bm25", tmp_path)
    common = [note(f"mail {n}", n) for n in range(4)]
    rare, padded = note("channel", 1), note("channel " + "w " * 60, 2)
    memory.record(episode(*common, padded, rare))
    assert shown(memory)[0] == rare.text
    assert shown(memory).index(rare.text) < shown(memory).index(padded.text)


def test_bm25_is_okapis_formula() -> None:
    one, two = bm25("mail mail post", ["mail mail desk", "desk"])
    weight = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert one == pytest.approx(weight * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)))
    assert two == 0
    assert bm25("mail", []) == []
    assert bm25("mail", ["", "--"]) == [0, 0]


@pytest.mark.parametrize("code", VARIANTS)
def test_whole_texts_with_date_type_and_scope_also_after_freezing(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path / "a")
    texts = ["mail grüße\r\n\r\n\tx = 1 ", "mail " + "y" * 20_000]
    for number, text in enumerate(texts):
        memory.record(episode(note(text, number, ("src/a.py",)), number=number))
    refrozen(memory, tmp_path / "b")
    for again in (opened(code, tmp_path / "a"), opened(code, tmp_path / "b")):
        assert [r.text for r in held(again)] == texts
        items = again.read(QUERY, WIDE).items
        assert {i.text for i in items} == set(texts)
        assert {(i.type, i.scope.files, i.state) for i in items} == {("human_feedback", ("src/a.py",), "unknown")}


@pytest.mark.parametrize("code", VARIANTS)
def test_a_damaged_store_is_a_fault(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path)
    memory.record(episode(note(FACT)))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b"post-77", b"post-78"))
    with pytest.raises(MemoryFault, match="line 1"):
        memory.read(QUERY, WIDE)
