"""Memories that a model writes: what is asked, what is kept, what is named as left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_probe import model_writer
from memory_probe.ladder import conditions
from memory_probe.model import Model, ModelFault, Unasked
from memory_probe.opening import Opening
from memory_probe.protocol import Memory, Scope, count_tokens
from tests.model.script import Script

from .ladder_kit import QUERY, WIDE, episode, held, note, refrozen, shown
from .model_kit import FAITHFUL, asking, saying

ALL = ["B3-model", "B4-model", "B6-model", "B7-model"]
LISTS = ["B3-model", "B4-model", "B7-model"]
FACT = note("The mail mark is mk-77.", 1, ("src/a.py",), "mail")


def opened(code: str, folder: Path, model: Model) -> Memory:
    return conditions()[code].open(Opening(folder, model=model))


def as_asked(code: str, text: str) -> object:
    """A text in the form that the condition asks for."""
    return [{"task": "mail", "text": text}] if code == "B6-model" else f"- {text}"


@pytest.mark.parametrize("code", ALL)
def test_one_call_a_session_with_all_of_it_and_a_record_of_what_was_said(code: str, tmp_path: Path) -> None:
    said = saying(lambda seen: as_asked(code, "mail goes by mk-77"))
    with asking(said, tmp_path) as (model, server):
        memory = opened(code, tmp_path / "a", model)
        told = episode(FACT, prompt="ask for it", steps="did this", delta="+changed")
        receipts = memory.record(told)
        (entry,) = server.log.asked()
        assert entry.seen is not None
        for part in (FACT.text, "ask for it", "did this", "+changed", "check: passed", "src/a.py", "by desk"):
            assert part in entry.seen.last()
        ledger = model.ledger()
        assert ledger.tokens is not None
        slept = memory.sleep(told.date)
        assert (slept.model_calls, slept.model_tokens) == (1, ledger.tokens.input + ledger.tokens.output)
        assert (memory.sleep(told.date).model_calls, len(server.log.asked())) == (0, 1)
    kept = "mail goes by mk-77" if code == "B6-model" else "- mail goes by mk-77"
    assert [(r.status, r.text) for r in receipts] == [("ok", kept), ("rejected", FACT.text)]
    assert receipts[1].why == model_writer.REWORDED
    (item,) = memory.read(QUERY, WIDE).items
    assert (item.text, item.date, item.state, item.type) == (kept, told.date, None, None)
    assert item.scope == (Scope(task="mail") if code == "B6-model" else Scope())
    refrozen(memory, tmp_path / "b")
    again = opened(code, tmp_path / "b", Unasked())  # to read, nothing is asked
    assert (shown(again), held(again)) == ([kept], held(memory))


@pytest.mark.parametrize("code", ALL)
def test_an_event_that_is_kept_word_for_word_is_not_called_lost(code: str, tmp_path: Path) -> None:
    with asking(FAITHFUL, tmp_path) as (model, _):
        receipts = opened(code, tmp_path / "a", model).record(episode(FACT))
    assert [r.status for r in receipts] == ["ok"]
    assert FACT.text in receipts[0].text


@pytest.mark.parametrize("code", ALL)
def test_what_is_over_the_words_is_named_and_no_line_is_cut(code: str, tmp_path: Path) -> None:
    lines = [f"{n} " + "word " * 98 + "end" for n in range(4)]

    def said(seen: object) -> object:
        text = "\n".join(lines)
        return [{"task": "", "text": text}] if code == "B6-model" else "\n".join(f"- {line}" for line in lines)

    with asking(saying(said), tmp_path) as (model, _):
        receipts = opened(code, tmp_path / "a", model).record(episode(FACT))
    kept = next(r.text for r in receipts if r.status == "ok")
    assert count_tokens(kept) <= 250
    assert [line for line in lines if line in kept] == lines[:2]
    named = "\n".join(r.text for r in receipts if r.status == "rejected" and "over 250 words" in r.why)
    assert [line for line in lines if line in named] == lines[2:]


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        *[(code, "Mail goes by mk-77.") for code in LISTS],
        *[(code, "- " + "word " * 300) for code in LISTS],
        ("B6-model", "- mail"),
        ("B6-model", '{"task": "a", "text": "b"}'),
        ("B6-model", json.dumps([{"task": "a", "text": "b"}] * 4)),
        ("B6-model", '[{"task": "a", "text": ""}]'),
        ("B6-model", '[{"task": "a"}]'),
        ("B6-model", '[{"task": 3, "text": "b"}]'),
        ("B6-model", '[{"task": "a", "text": "b", "more": "c"}]'),
    ],
)
def test_an_answer_of_another_form_writes_nothing_and_is_the_models_fault(
    code: str, answer: str, tmp_path: Path
) -> None:
    with asking(saying(lambda seen: answer), tmp_path) as (model, server):
        memory = opened(code, tmp_path / "a", model)
        with pytest.raises(ModelFault, match="two answers"):
            memory.record(episode(FACT))
        assert len(server.log.asked()) == 2
        assert held(memory) == []
        assert memory.sleep(FACT.date).model_calls == 2  # they were made, and are told


def test_the_subtasks_may_be_none_and_then_every_event_is_named(tmp_path: Path) -> None:
    with asking(saying(lambda seen: []), tmp_path) as (model, _):
        memory = opened("B6-model", tmp_path / "a", model)
        receipts = memory.record(episode(FACT))
    assert [(r.status, r.text) for r in receipts] == [("rejected", FACT.text)]
    assert held(memory) == []


def test_the_tracker_is_written_from_the_one_before(tmp_path: Path) -> None:
    with asking(FAITHFUL, tmp_path) as (model, server):
        memory = opened("B7-model", tmp_path / "a", model)
        memory.record(episode(note("mail is on")))
        memory.record(episode(note("mail is off", 7), number=2, day=7))
        first, second = (entry.seen.last() for entry in server.log.asked() if entry.seen)
    assert first.startswith("=== the list as it stands ===\n(nothing yet)\n")
    assert second.startswith("=== the list as it stands ===\n- mail is on\n")
    assert shown(memory) == ["- mail is off\n- mail is on"]
    assert memory.read(QUERY, WIDE).items[0].date == note("", 7).date
    assert [(r.state, r.text) for r in held(memory)] == [
        ("superseded", "- mail is on"),
        ("unknown", "- mail is off\n- mail is on"),
    ]


def test_a_session_over_the_bytes_is_cut_behind_its_events(tmp_path: Path) -> None:
    with asking(FAITHFUL, tmp_path) as (model, server):
        receipts = opened("B4-model", tmp_path / "a", model).record(episode(FACT, steps="s" * 60_000, prompt="p"))
        (entry,) = server.log.asked()
    assert len(entry.body) < 52_000
    assert entry.seen is not None
    assert FACT.text in entry.seen.last()
    (cut,) = [r for r in receipts if "not shown to the model" in r.why]
    assert set(cut.text) == {"s"}


def test_each_writer_asks_for_something_else_and_its_card_says_which(tmp_path: Path) -> None:
    known, systems = conditions(), set()
    for code in ALL:
        script: Script = FAITHFUL
        with asking(script, tmp_path) as (model, server):
            opened(code, tmp_path / code, model).record(episode(FACT))
            systems |= {entry.seen.system for entry in server.log.asked() if entry.seen}
    assert len(systems) == len(ALL)
    assert len({known[code].card.version for code in ALL}) == len(ALL)
    assert all(known[code].card.needs_model for code in ALL)
