"""How a model's answers are read: strictly, once more if need be, and with every call counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_probe.baselines import NoMemory
from memory_probe.model import Answer, Meter, ModelFault, Unasked, answered, bare, bullets, fields, parsed
from memory_probe.opening import Condition, Opening, equipped
from memory_probe.protocol import Card, Memory
from memory_probe.telling import cut_at, tell

from .ladder_kit import episode, note
from .model_kit import asking, saying


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ("- one", ("- one",)),
        ("\n- one\n\n- two\r\n", ("- one", "- two")),
        ("- one\n  and on\n- two", ("- one\n  and on", "- two")),
        ("```\n- one\n- two\n```", ("- one", "- two")),
        ("```markdown\n- one\n```\n", ("- one",)),
    ],
)
def test_a_list_is_its_items(answer: str, items: tuple[str, ...]) -> None:
    assert bullets(answer) == items


@pytest.mark.parametrize(
    "answer", ["", "  \n", "one", "Here it is:\n- one", "- one\nand on", "* one", "-one", "-  ", "- a\n - x"]
)
def test_what_is_no_list_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match="'- '"):
        bullets(answer)


@pytest.mark.parametrize(
    "answer", ["", "{", "{} {}", "Sure: {}", '{"a": 1, "a": 2}', "[" * 100_000, '"\\ud800"', "```json\n{}\n``` so"]
)
def test_what_is_no_json_is_refused(answer: str) -> None:
    with pytest.raises(ValueError):
        parsed(answer)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=("Cs",))),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner),
        max_leaves=8,
    ),
    st.sampled_from(["{}", "\n{}\n", "```json\n{}\n```", "```\n{}\n```"]),
)
def test_json_is_read_with_or_without_a_fence(value: object, around: str) -> None:
    assert parsed(around.replace("{}", json.dumps(value))) == value


@given(st.text())
def test_a_text_without_a_fence_loses_white_space_alone(text: str) -> None:
    assert bare(text) == text.strip() or text.strip().startswith("```")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([], "an object"),
        ({"a": 1}, "fields a, b"),
        ({"a": 1, "b": "x", "c": 2}, "fields a, b"),
        ({"a": True, "b": "x"}, "a is no int"),
        ({"a": 1, "b": None}, "b is no str"),
    ],
)
def test_an_object_has_its_fields_and_no_other(value: object, why: str) -> None:
    assert fields({"a": 1, "b": "x"}, a=int, b=str) == {"a": 1, "b": "x"}
    with pytest.raises(ValueError, match=why):
        fields(value, a=int, b=str)


def test_an_answer_that_cannot_be_used_is_asked_for_once_more_with_the_reason(tmp_path: Path) -> None:
    said = saying(lambda seen: "- good" if "could not be used: a line" in seen.last() else "bad")
    with asking(said, tmp_path) as (model, server):
        assert answered(model, "s", "the text", 9, bullets) == ("- good",)
        first, second = (entry.seen for entry in server.log.asked())
    assert first is not None
    assert second is not None
    assert second.last().startswith(first.last() + "\n\n")
    assert first.system == second.system == "s"


def test_two_unusable_answers_are_the_models_fault(tmp_path: Path) -> None:
    with asking(saying(lambda seen: "no"), tmp_path) as (model, server):
        with pytest.raises(ModelFault, match=r"two answers of the model cannot be used: .*'no'"):
            answered(model, "s", "t", 9, bullets)
        assert len(server.log.asked()) == 2


class Fixed:
    """Answers with these counts, or fails."""

    def __init__(self, *counts: tuple[int | None, int | None] | None) -> None:
        self.counts = list(counts)

    def ask(self, system: str, text: str, most: int) -> Answer:
        count = self.counts.pop(0)
        if count is None:
            raise ModelFault("no")
        return Answer("x", *count)


@pytest.mark.parametrize(
    ("counts", "taken"),
    [
        ([], (0, 0)),
        ([(3, 4), (5, 6)], (2, 18)),
        ([(3, 4), (None, 6)], (2, None)),
        ([(3, None), (1, 1)], (2, None)),
        ([None, (1, 1)], (2, 2)),
    ],
)
def test_every_call_is_counted_and_unknown_is_never_nothing(counts: list[Any], taken: tuple[int, int | None]) -> None:
    meter = Meter(Fixed(*counts))
    for count in counts:
        try:
            meter.ask("s", "t", 1)
        except ModelFault:
            assert count is None
    assert meter.take() == taken
    assert meter.take() == (0, 0)


def test_a_condition_is_opened_with_the_model_it_was_given_unless_it_has_one(tmp_path: Path) -> None:
    seen: list[object] = []

    def opened(opening: Opening) -> Memory:
        seen.append(opening.model)
        return NoMemory(card)

    card, one, other = Card("X", "x", "1"), Unasked(), Unasked()
    given = equipped(Condition(card, opened, "embed"), one)
    given.open(Opening(tmp_path))
    given.open(Opening(tmp_path, model=other))
    equipped(Condition(card, opened), None).open(Opening(tmp_path))
    assert seen == [one, other, None]
    assert (given.card, given.extra) == (card, "embed")
    with pytest.raises(ModelFault, match="to be read"):
        one.ask("s", "t", 1)


# -- what a model is told ------------------------------------------------------------------------------------


@given(st.text(), st.integers(0, 60))
def test_a_cut_text_is_the_longest_that_fits(text: str, most: int) -> None:
    kept, left = cut_at(text, most)
    assert kept + left == text
    size = len(kept.encode("utf-8", "replace"))
    assert size <= most
    assert not left or size + len(left[0].encode("utf-8", "replace")) > most


def test_a_session_is_told_events_first_and_what_is_cut_is_named() -> None:
    session = episode(note("mail is on", 1, ("src/a.py",)), note(" "), prompt="send", steps="s" * 50, delta="d" * 50)
    telling = tell(session)
    assert telling.cut == ()
    heads = [line for line in telling.text.split("\n") if line.startswith("=== ")]
    assert heads == [
        "=== event 1: human feedback, by desk, 2026-01-06, on src/a.py ===",
        "=== what was asked ===",
        "=== how the public check ended ===",
        "=== what was changed ===",
        "=== what was done ===",
        "=== end of the session ===",
    ]
    assert "\nmail is on\n" in telling.text
    tight = tell(session, 60)
    assert [r.text for r in tight.cut] == ["d" * 17, "s" * 50]
    assert all("over 60 bytes" in r.why for r in tight.cut)
    assert "d" * 33 + "\n[17 bytes are left out]" in tight.text
    assert "s" * 50 not in tight.text
