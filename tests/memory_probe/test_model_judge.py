"""The model judge: what it is asked, what follows from its answers, and that nothing follows from a bad one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_probe.ladder import conditions
from memory_probe.model import Model, ModelFault
from memory_probe.model_judge import MOST_NOTES
from memory_probe.opening import Opening
from memory_probe.protocol import Episode, Note
from memory_probe.store.schema import FILE
from memory_probe.store.verify import verify
from tests.model.script import Seen

from .model_kit import FAITHFUL, asking, saying
from .probe_kit import FILES, QUERY, WIDE, episode, note, states

OLD = note("Note AB-10. Mail goes by post.", 1)
NEW = note("Note AB-20. Mail goes by air.", 7, kind="failure_diagnosis")
NONE = {"contradicts": [], "decides": []}


def judging(types: str = "human_feedback", finding: Any = None) -> Any:
    """Every note has this type; the first comparison finds `finding`, the others nothing."""
    told = [finding or NONE]

    def said(seen: Seen) -> object:
        if "one type for each note" in seen.system:
            return {"types": [types] * seen.last().count("=== note ")}
        return told.pop() if told else NONE

    return saying(said)


def lived(folder: Path, model: Model, *sessions: Episode, code: str = "DF-model") -> Any:
    memory = conditions()[code].open(Opening(folder, model=model))
    for session in sessions:
        memory.record(session)
        memory.sleep(session.date)
    return memory


def two() -> tuple[Episode, Episode]:
    return episode(OLD, day=1), episode(NEW, day=7)


def compared(server: Any) -> list[str]:
    """What the judge was shown to compare, one text a call."""
    return [e.seen.last() for e in server.log.asked() if e.seen and '"contradicts"' in e.seen.system]


@pytest.mark.parametrize("code", ["DF-model", "DF-hybrid-model"])
def test_a_model_that_finds_what_the_rules_find_leads_to_the_same_view(code: str, tmp_path: Path) -> None:
    told = (episode(OLD, day=1), episode(note("Note AB-20. This replaces AB-10: mail goes by air.", 7), day=7))
    with asking(FAITHFUL, tmp_path) as (model, _):
        judged = lived(tmp_path / "a", model, *told, code=code)
    plain = lived(tmp_path / "b", model, *told, code=code.removesuffix("-model"))
    assert judged.read(QUERY, WIDE) == plain.read(QUERY, WIDE)
    assert states(judged) == states(plain)
    assert states(judged)[OLD.text] == "superseded"
    assert verify(tmp_path / "a" / FILE) == []


@pytest.mark.parametrize(
    ("type_", "confident"),
    [
        ("human_feedback", 0.9),
        ("contradiction", 0.9),
        ("semantic_project", 0.9),
        ("constraint", 0.9),
        ("procedural", 0.6),
    ],
)
def test_the_type_is_the_models_and_the_text_is_the_logs(type_: str, confident: float, tmp_path: Path) -> None:
    with asking(judging(type_), tmp_path) as (model, server):
        memory = lived(tmp_path / "a", model, episode(OLD, note(" "), NEW))
        (entry,) = [e for e in server.log.asked() if e.seen and "one type for each note" in e.seen.system]
    assert entry.seen is not None
    assert entry.seen.last().count("=== note ") == 2  # the blank one is not shown
    found = {i.text: i for i in memory.read(QUERY, WIDE).items}
    assert (found[OLD.text].type, found[OLD.text].date, found[OLD.text].scope) == (type_, OLD.date, OLD.scope)
    held = memory._derived.view
    assert [held.standing(n).confidence for n in held.ids() if held.memory(n).content == OLD.text] == [confident]


GOVERNS = [
    ({"note": 1, "grounded": True, "governs": "new"}, "superseded", "active"),
    ({"note": 1, "grounded": True, "governs": "earlier"}, "active", "unknown"),
    ({"note": 1, "grounded": True, "governs": "unclear"}, "active", "unknown"),
    ({"note": 1, "grounded": False, "governs": "new"}, "active", "unknown"),
]


@pytest.mark.parametrize("code", ["DF-model", "DF-hybrid-model"])
@pytest.mark.parametrize(("found", "old", "new"), GOVERNS)
def test_which_side_governs_is_what_the_model_says(
    found: dict[str, Any], old: str, new: str, code: str, tmp_path: Path
) -> None:
    with asking(judging(finding={"contradicts": [found], "decides": []}), tmp_path) as (model, server):
        memory = lived(tmp_path / "a", model, *two(), code=code)
        assert len(compared(server)) == 1  # the capsules hold the same notes, and are not asked about again
    assert (states(memory)[OLD.text], states(memory)[NEW.text]) == (old, new)
    records = [text for text in states(memory) if text.startswith("Contradiction: AB-20 by desk")]
    assert len(records) == 1
    assert verify(tmp_path / "a" / FILE) == []


def test_nothing_found_changes_nothing(tmp_path: Path) -> None:
    with asking(judging(), tmp_path) as (model, _):
        memory = lived(tmp_path / "a", model, *two())
    assert (states(memory)[OLD.text], states(memory)[NEW.text]) == ("active", "active")
    assert not [text for text in states(memory) if text.startswith("Contradiction")]


def test_a_note_that_is_less_believed_waits_whatever_the_model_says(tmp_path: Path) -> None:
    def said(seen: Seen) -> object:
        if "one type for each note" in seen.system:
            return {"types": ["procedural" if "AB-20" in seen.last() else "human_feedback"]}
        return {"contradicts": [{"note": 1, "grounded": True, "governs": "new"}], "decides": []}

    with asking(saying(said), tmp_path) as (model, _):
        memory = lived(tmp_path / "a", model, *two())
    assert (states(memory)[OLD.text], states(memory)[NEW.text]) == ("active", "unknown")


@pytest.mark.parametrize(
    ("decided", "old", "new"),
    [({"governs": 1, "yields": 2}, "active", "unknown"), ({"governs": 2, "yields": 1}, "superseded", "active")],
)
def test_a_note_may_decide_between_earlier_ones(decided: dict[str, int], old: str, new: str, tmp_path: Path) -> None:
    rule = note("Note AB-30. On mail, the desk has the last word.", 14)

    def said(seen: Seen) -> object:
        if "one type for each note" in seen.system:
            return {"types": ["human_feedback"]}
        return (
            {"contradicts": [], "decides": [decided]}
            if "new note: human feedback, by desk, 2026-01-19" in seen.last()
            else NONE
        )

    with asking(saying(said), tmp_path) as (model, _):
        memory = lived(tmp_path / "a", model, *two(), episode(rule, day=14))
    assert (states(memory)[OLD.text], states(memory)[NEW.text], states(memory)[rule.text]) == (old, new, "active")


def test_a_new_note_is_held_against_what_it_could_meet_and_no_more(tmp_path: Path) -> None:
    named = note("Note AB-11. Elsewhere, quite another thing.", 1, files=("src/shop.py",), task="orders")
    apart = note("Note AB-12. Mail of the shop.", 1, files=("src/shop.py",), task="orders")
    silent = note("Nothing shared here.", 1)
    near = note("Note AB-13. Mail goes on foot.", 2)
    new = note("Note AB-14. Mail goes by air, as AB-11 says.", 7)
    with asking(judging(), tmp_path) as (model, server):
        lived(tmp_path / "a", model, episode(named, apart, silent, near, day=2), episode(new, day=7))
        shown = compared(server)[-1]
    assert [text in shown for text in (named.text, apart.text, silent.text, near.text)] == [True, False, False, True]
    assert shown.startswith(
        "=== new note: human feedback, by desk, 2026-01-12, on src/mail.py; mail reminders, authority 2"
    )
    assert shown.index(named.text) < shown.index(near.text)  # oldest first


def test_it_is_held_against_so_many_notes_at_most_those_nearest(tmp_path: Path) -> None:
    many = [note(f"Mail number {n} goes by post{' and by air' if n == 3 else ''}.", 1) for n in range(MOST_NOTES + 8)]
    with asking(judging(), tmp_path) as (model, server):
        lived(tmp_path / "a", model, episode(*many, day=1), episode(note("Mail goes by air.", 7), day=7))
        shown = compared(server)[-1]
    assert shown.count("=== earlier note ") == MOST_NOTES
    assert many[3].text in shown
    assert many[-1].text in shown
    assert many[4].text not in shown


def test_a_note_that_is_named_comes_before_all_that_are_only_near(tmp_path: Path) -> None:
    many = [note(f"Mail number {n} goes by air.", 2) for n in range(MOST_NOTES + 2)]
    named = note("Note AB-40. Quite apart.", 1)
    new = note("Mail number 7 goes by air, whatever AB-40 says.", 7)
    with asking(judging(), tmp_path) as (model, server):
        lived(tmp_path / "a", model, episode(named, *many, day=2), episode(new, day=7))
        shown = compared(server)[-1]
    assert named.text in shown
    assert shown.count("=== earlier note ") == MOST_NOTES


def test_scopes_that_do_not_meet_keep_notes_apart(tmp_path: Path) -> None:
    one = note("Mail goes by post.", 1, files=(), symbols=("Post.send",))
    other = note("Mail goes by cart.", 1, files=(), symbols=("Cart",))
    with asking(judging(), tmp_path) as (model, server):
        new = note("Mail goes by air.", 7, files=(), symbols=("Post",))
        lived(tmp_path / "a", model, episode(one, other, day=1), episode(new, day=7))
        shown = compared(server)[-1]
    assert (one.text in shown, other.text in shown) == (True, False)


def test_notes_without_a_word_in_common_are_not_asked_about(tmp_path: Path) -> None:
    with asking(judging(), tmp_path) as (model, server):
        lived(tmp_path / "a", model, episode(OLD, day=1), episode(note("Quite unlike.", 7), day=7))
        assert compared(server) == []


def test_sleep_tells_its_calls_and_their_tokens(tmp_path: Path) -> None:
    with asking(judging(), tmp_path) as (model, server):
        memory = conditions()["DF-model"].open(Opening(tmp_path / "a", model=model))
        first, second = two()
        memory.record(first)
        before = memory.sleep(first.date)
        memory.record(second)
        after = memory.sleep(second.date)
        idle = memory.sleep(second.date)
        used = model.ledger().tokens
        assert len(server.log.asked()) == 3
    assert used is not None
    assert (before.model_calls, after.model_calls, idle.model_calls) == (1, 2, 0)
    assert before.model_tokens is not None
    assert after.model_tokens is not None
    assert before.model_tokens + after.model_tokens == used.input + used.output
    assert set(after.changes) == {"consolidate", "replay", "repair", "stale", "ground"}


@pytest.mark.parametrize("part", ["types", "contradicts"])
def test_an_unusable_answer_leaves_the_store_as_it_was(part: str, tmp_path: Path) -> None:
    def said(seen: Seen) -> object:
        asked = "types" if "one type for each note" in seen.system else "contradicts"
        if asked == part and "AB-20" in seen.last():
            return "I would say that they do contradict."
        return {"types": ["human_feedback"]} if asked == "types" else NONE

    first, second = two()
    with asking(saying(said), tmp_path) as (model, _):
        memory = lived(tmp_path / "a", model, first)
        before = states(memory)
        memory.record(second)
        with pytest.raises(ModelFault, match="two answers of the model cannot be used"):
            memory.sleep(second.date)
        assert states(memory) == {**before, NEW.text: "unknown"}  # recorded, not slept on
    with asking(judging(), tmp_path) as (model, _):
        again = conditions()["DF-model"].open(Opening(tmp_path / "a", model=model))
        again.sleep(second.date)
        assert states(again)[NEW.text] == "active"
    assert verify(tmp_path / "a" / FILE) == []


def test_a_long_note_is_cut_and_the_cut_is_said(tmp_path: Path) -> None:
    long: Note = note("Note AB-20. Mail " + "x" * 9000, 7, files=FILES)
    with asking(judging(), tmp_path) as (model, server):
        memory = lived(tmp_path / "a", model, episode(OLD, day=1), episode(long, day=7))
        assert "characters are left out]" in compared(server)[-1]
    assert long.text in states(memory)
