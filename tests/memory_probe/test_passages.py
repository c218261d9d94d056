"""Raw trajectories lose no byte in passages, and show what a trajectory knows: text, date, source."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_probe.lexical import cosine
from memory_probe.passages import LIMIT, cut
from memory_probe.protocol import Budget, Scope, count_tokens

from .ladder_kit import DAY, QUERY, WIDE, Told, episode, held, note, opened, refrozen, shown


@given(st.lists(st.text("ab \u00e9\r\t\u2028", max_size=20), max_size=12).map("\n".join), st.integers(1, 6))
def test_pieces_put_together_are_the_text_and_are_cut_at_line_ends(text: str, limit: int) -> None:
    pieces = cut(text, limit)
    assert "".join(pieces) == text
    assert all(count_tokens(piece) <= limit for piece in pieces)
    for piece, following in pairwise(pieces):
        line = piece.rpartition("\n")[2] + following.partition("\n")[0]
        assert piece.endswith("\n") or count_tokens(line) > limit


def test_a_line_that_is_too_long_by_itself_is_cut_between_words() -> None:
    text = "head\n" + "w " * 400 + "\ntail"
    pieces = cut(text)
    assert "".join(pieces) == text
    assert max(map(count_tokens, pieces)) <= LIMIT
    assert pieces[0] == "head\n" + "w " * 149


def test_lines_are_packed_until_the_next_does_not_fit() -> None:
    line = "w " * 49 + "w\n"
    assert cut(line * 7) == [line * 3, line * 3, line]


@pytest.mark.parametrize("code", ["B1", "B2"])
def test_everything_told_is_kept_and_survives(code: str, tmp_path: Path) -> None:
    told: Told = {"prompt": "grüße\r\nmail", "steps": "{" + "step " * 900 + "}", "delta": "+x\n" * 500}
    event = "mail \n\n    x = 1\r\n" + "y" * 20_000
    memory = opened(code, tmp_path / "a")
    receipts = memory.record(episode(note(event, 1), **told))
    assert {r.status for r in receipts} == {"ok"}
    whole = "".join(r.text for r in held(memory))
    assert all(text in whole for text in (told["prompt"], told["steps"], told["delta"], event, "check: passed"))
    again = opened(code, tmp_path / "a")
    assert (held(again), shown(again)) == (held(memory), shown(memory))
    refrozen(memory, tmp_path / "b")
    assert shown(opened(code, tmp_path / "b")) == shown(memory)


@pytest.mark.parametrize("code", ["B1", "B2"])
def test_an_item_shows_date_and_source_and_no_more(code: str, tmp_path: Path) -> None:
    memory = opened(code, tmp_path)
    memory.record(episode(note("the mail channel is post", 3, ("src/a.py",)), prompt="reminders", number=4))
    said, asked = memory.read(QUERY, WIDE).items
    assert (said.date, said.provenance) == (note("", 3).date, "session 4, event")
    assert (asked.date, asked.provenance) == (DAY, "session 4, prompt")
    assert {(i.type, i.state, i.scope, i.successor) for i in (said, asked)} == {(None, None, Scope(), None)}


def test_b1_ranks_by_words_found_and_b2_by_cosine(tmp_path: Path) -> None:
    short, long = "mail channel", "reminders to the mail channel " + "and other things " * 30
    orders = {}
    for code in ("B1", "B2"):
        memory = opened(code, tmp_path / code)
        memory.record(episode(note(short), note(long), note("unrelated")))
        orders[code] = shown(memory)
        rejected = memory.read(QUERY, WIDE).rejected
        assert "unrelated" in [r.text for r in rejected if "no match" in r.why]
    assert orders["B1"] == [long, short]
    assert orders["B2"] == [short, long]


def test_a_view_keeps_k_and_budget_and_names_what_it_left_out(tmp_path: Path) -> None:
    memory = opened("B1", tmp_path)
    memory.record(episode(*(note(f"mail {n} " + "w " * 140) for n in range(9))))
    view = memory.read(QUERY, Budget(6, 300))
    assert len(view.items) == 2
    assert len(view.items) + len(view.rejected) == view.considered == 10
    assert all(r.why for r in view.rejected)


def test_cosine_of_counts() -> None:
    assert cosine({"a": 1, "b": 1}, {"a": 1, "b": 1}) == pytest.approx(1)
    assert cosine({"a": 3, "b": 4}, {"a": 1}) == pytest.approx(0.6)
    assert cosine({"a": 1}, {"b": 1}) == cosine({}, {}) == 0
