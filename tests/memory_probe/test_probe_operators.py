"""Every operator of sleep: a store in which it matters, in the expected direction, and one in which it must not."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from memory_probe.probe import ProbeMemory
from memory_probe.protocol import Episode
from memory_probe.sleep.base import Settings
from memory_probe.sleep.repair import repair
from memory_probe.store.model import Provenance
from memory_probe.store.raw_log import since

from .probe_kit import (
    DAY,
    NOW,
    QUERY,
    WIDE,
    episode,
    item,
    lived,
    made,
    note,
    planted,
    problems,
    shown,
    states,
    variant,
    without_operator,
)

OLD = note("Note AB-1001 by the desk: reminders go to `mail-old`.", 0)
NEW = note("Note AB-1002 by the desk: reminders go to `mail-new`. This replaces AB-1001.", 9)
PLAIN = note("Note AB-1003 by the desk: reminders have a subject.", 1)


def pair(tmp_path: Path, operator: str, *episodes: Episode, code: str = "DF") -> tuple[ProbeMemory, ProbeMemory]:
    """The same life with and without an operator."""
    with_it = lived(tmp_path / "with", *episodes, of=variant(code))
    without = lived(tmp_path / "without", *episodes, of=without_operator(operator, code))
    assert problems(tmp_path / "with") == problems(tmp_path / "without") == []
    return with_it, without


def test_consolidate_makes_events_readable(tmp_path: Path) -> None:
    with_it, without = pair(tmp_path, "consolidate", episode(PLAIN))
    assert PLAIN.text in shown(with_it)
    assert shown(without) == []


def test_consolidate_has_nothing_to_do_with_capsules(tmp_path: Path) -> None:
    with_it, without = pair(tmp_path, "consolidate", episode(PLAIN), code="DF-hybrid")
    assert PLAIN.text in shown(with_it)
    assert PLAIN.text in shown(without)


@pytest.mark.parametrize(
    ("kind", "type_", "confidence"),
    [
        ("human_feedback", "human_feedback", 0.9),
        ("contradiction", "contradiction", 0.9),
        ("staleness", "semantic_project", 0.9),
        ("failure_diagnosis", "procedural", 0.6),
        ("anything", "procedural", 0.6),
    ],
)
def test_consolidate_types_by_kind(tmp_path: Path, kind: str, type_: str, confidence: float) -> None:
    memory = lived(tmp_path, episode(note("reminders are sent daily", 0, kind)))
    view = memory._derived.view
    assert (view.memory(1).type, view.standing(1).confidence) == (type_, confidence)
    assert view.memory(1).human_verified == (kind == "human_feedback")


def test_consolidate_keeps_an_events_last_day(tmp_path: Path) -> None:
    memory = lived(
        tmp_path,
        episode(
            note("reminders pause", until=DAY + dt.timedelta(3)), note("reminders are short, valid until 2026-01-20.")
        ),
    )
    found = [memory._derived.view.standing(n).valid_until for n in (1, 2)]
    assert found == [DAY + dt.timedelta(3), dt.date(2026, 1, 20)]


def test_capsules_keep_every_event_verbatim(tmp_path: Path) -> None:
    texts = ["one\r\ntwo ", "grüße `x-y`"]
    with_it, without = pair(tmp_path, "capsules", episode(*(note(t) for t in texts)), code="DF-raw-only")
    assert sorted(shown(with_it)) == sorted(texts)
    assert shown(without) == []


def test_capsules_do_not_change_what_the_typed_channel_decides(tmp_path: Path) -> None:
    with_it, without = pair(tmp_path, "capsules", episode(OLD), episode(NEW, day=9), code="DF-hybrid")
    typed = {i.text for i in with_it.read(QUERY, WIDE).items if i.type != "episodic"}
    assert typed == set(shown(without))
    assert OLD.text not in shown(with_it)


def test_replay_dreams_after_a_failure_and_waits_for_review(tmp_path: Path) -> None:
    failed = episode(PLAIN, passed=False, check_output="E   assert 1 == 2\n1 failed")
    with_it, without = pair(tmp_path, "replay", failed)
    dreams = [t for t in states(with_it) if t.startswith("Replay.")]
    assert len(dreams) == 1
    assert "1 failed" in dreams[0]
    assert states(with_it)[dreams[0]] == "unknown"
    assert dreams[0] not in shown(with_it)
    failures = [i.text for i in with_it.read(QUERY, WIDE).items if i.type == "failure"]
    assert len(failures) == 1
    assert not [t for t in states(without) if t.startswith("Replay.")]
    assert not [i for i in without.read(QUERY, WIDE).items if i.type == "failure"]


@pytest.mark.parametrize(
    ("told", "dreams", "failures"),
    [
        ({}, 0, 0),
        ({"delta": ""}, 1, 0),
        ({"delta": "", "steps": ""}, 1, 0),
        ({"passed": False}, 1, 1),
    ],
    ids=["passed", "partial", "unknown", "failed"],
)
def test_replay_by_outcome(tmp_path: Path, told: dict[str, Any], dreams: int, failures: int) -> None:
    view = lived(tmp_path, episode(PLAIN, **told))._derived.view
    types = [view.memory(n).type for n in view.ids()]
    assert (types.count("dream_artifact"), types.count("failure")) == (dreams, failures)


def test_repair_supersedes_what_a_newer_note_replaces(tmp_path: Path) -> None:
    with_it, without = pair(tmp_path, "repair", episode(OLD), episode(NEW, day=9))
    assert states(with_it)[OLD.text] == "superseded"
    assert OLD.text not in shown(with_it)
    assert NEW.text in shown(with_it)
    assert OLD.text in shown(without)
    record = next(t for t in states(with_it) if t.startswith("Contradiction"))
    assert "AB-1002" in record
    assert "mail-old" not in record


def test_repair_leaves_notes_that_say_nothing_of_others(tmp_path: Path) -> None:
    with_it, without = pair(tmp_path, "repair", episode(OLD), episode(PLAIN, day=9))
    assert shown(with_it) == shown(without)
    assert set(states(with_it).values()) == {"active"}


def test_repair_finds_the_old_side_by_a_quoted_value_within_the_scope(tmp_path: Path) -> None:
    elsewhere = note("Note AB-1009 by the shop: orders go to `mail-old`.", 0, files=("src/shop.py",), task="orders")
    new = note("Reminders go to `mail-new`. This replaces `mail-old` everywhere.", 9)
    memory = lived(tmp_path, episode(OLD, elsewhere), episode(new, day=9))
    assert states(memory)[OLD.text] == "superseded"
    assert states(memory)[elsewhere.text] == "active"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"authority": 1}, {"authority": 3}),
        ({"kind": "failure_diagnosis"}, {}),
    ],
    ids=["outranked by number", "less confident"],
)
def test_a_newer_side_that_may_not_supersede_waits_for_review(
    tmp_path: Path, new: dict[str, Any], old: dict[str, Any]
) -> None:
    first, second = note(OLD.text, 0, **old), note(NEW.text, 9, **new)
    memory = lived(tmp_path, episode(first), episode(second, day=9))
    assert states(memory)[OLD.text] == "active"
    assert states(memory)[NEW.text] == "unknown"
    assert NEW.text not in shown(memory)


def test_an_ungrounded_newer_side_waits_for_review(tmp_path: Path) -> None:
    old = item(OLD.text, kind="human_feedback", episode=1, note=1)
    new = item(NEW.text, kind="human_feedback", valid_from=NOW, episode=1, note=2, provenance=Provenance())
    memory = planted(tmp_path, old, new)
    proposal = repair(memory._derived.view, list(since(memory._connection, 0)), NOW, Settings())
    assert [(c.memory, c.changes) for c in proposal.changes] == [(2, {"status": "requires_review"})]
    assert [link.kind for link in proposal.links] == ["contradicts"]


def test_a_stated_precedence_decides_whatever_came_later(tmp_path: Path) -> None:
    audit = note("Memo AB-2001 by the audit office: the mark is `one`.", 0, author="audit office", authority=1)
    store = note("Note AB-2002 by the store team: the mark is `two`.", 2, author="store team", authority=1)
    rule = note("Decision AB-2003: the audit office outranks the store team.", 5, "contradiction", author="lead")
    late = note("Note AB-2004 by the store team: the mark is `three`.", 6, author="store team", authority=1)
    memory = lived(tmp_path, episode(audit, store), episode(rule, day=5), episode(late, day=6))
    found = states(memory)
    assert [found[n.text] for n in (audit, store, rule, late)] == ["active", "unknown", "active", "unknown"]
    assert problems(tmp_path) == []


def test_a_precedence_on_another_matter_decides_nothing(tmp_path: Path) -> None:
    audit = note("Memo by the audit office: the mark is `one`.", 0, author="audit office", task="archive")
    store = note("Note by the store team: send `two`.", 2, author="store team", task="weekly greeting")
    rule = note("The audit office outranks the store team.", 5, "contradiction", author="lead", task="archive")
    memory = lived(tmp_path, episode(audit, store, rule))
    assert [states(memory)[n.text] for n in (audit, store)] == ["active", "active"]


def test_stale_retires_what_a_notice_makes_out_of_date(tmp_path: Path) -> None:
    notice = note("The mail reminders moved to another relay.", 9, "staleness")
    other = note("orders are sealed by hand", 0, files=("src/shop.py",), task="orders")
    with_it, without = pair(tmp_path, "stale", episode(PLAIN, other), episode(notice, day=9))
    assert PLAIN.text not in shown(with_it)
    assert PLAIN.text in shown(without)
    assert states(with_it)[other.text] == "active"
    assert notice.text in shown(with_it)


def test_stale_leaves_other_topics_of_the_same_file(tmp_path: Path) -> None:
    notice = note("The letterhead moved to another folder.", 9, "staleness", task="letterhead")
    with_it, without = pair(tmp_path, "stale", episode(PLAIN), episode(notice, day=9))
    assert shown(with_it) == shown(without)


def test_stale_ends_what_has_a_last_day(tmp_path: Path) -> None:
    short = note("reminders pause this week", until=DAY + dt.timedelta(3))
    with_it, without = pair(tmp_path, "stale", episode(short), episode(day=4))
    assert states(with_it)[short.text] == "expired"
    assert states(without)[short.text] == "active"
    assert states(lived(tmp_path / "before", episode(short), episode(day=3)))[short.text] == "active"


def test_failed_use_raises_risk_until_review(tmp_path: Path) -> None:
    memory = lived(tmp_path, episode(PLAIN))
    for day in range(1, 5):
        assert memory._derived.view.standing(1).risk == pytest.approx(0.25 * (day - 1))
        memory.read(QUERY, WIDE)
        memory.record(episode(day=day, passed=False))
        memory.sleep(DAY + dt.timedelta(day))
    assert states(memory)[PLAIN.text] == "unknown"
    assert memory._derived.view.standing(1).use_count == 4
    assert memory._derived.view.standing(1).outcome_impact == -4
    assert problems(tmp_path) == []


def test_use_in_a_session_that_passed_raises_no_risk(tmp_path: Path) -> None:
    memory = lived(tmp_path, episode(PLAIN))
    memory.read(QUERY, WIDE)
    memory.record(episode(day=1))
    memory.sleep(DAY + dt.timedelta(1))
    assert memory._derived.view.standing(1).risk == 0
    assert memory._derived.view.standing(1).outcome_impact == 1


def test_ground_puts_what_names_no_evidence_on_hold(tmp_path: Path) -> None:
    bare, sound = item("reminders are red", provenance=Provenance()), item("reminders are blue")
    for name, of in (("with", variant()), ("without", without_operator("ground"))):
        memory = planted(tmp_path / name, bare, sound, of=of)
        memory.sleep(DAY)
        assert states(memory)["reminders are blue"] == "active"
        assert states(memory)["reminders are red"] == ("unknown" if name == "with" else "active")
        standing = memory._derived.view.standing(1)
        assert (standing.confidence, standing.risk) == ((0.3, 0.5) if name == "with" else (0.5, 0.0))
        assert bool(problems(tmp_path / name)) == (name == "without")


def test_a_global_maintenance_scope_repairs_too_much(tmp_path: Path) -> None:
    other = note("orders are sealed by hand", 0, files=("src/shop.py",), task="orders")
    lives = episode(OLD, other), episode(NEW, day=9)
    assert states(lived(tmp_path / "scoped", *lives))[other.text] == "active"
    assert states(lived(tmp_path / "global", *lives, of=variant("A11")))[other.text] == "superseded"


def test_a_sleep_with_nothing_new_changes_nothing(tmp_path: Path) -> None:
    memory = lived(tmp_path, episode(OLD), episode(NEW, day=9, passed=False))
    before = memory.freeze()
    report = memory.sleep(DAY + dt.timedelta(9))
    assert set(report.changes.values()) == {0}
    assert memory.freeze() == before


def test_operators_report_by_name_in_their_order(tmp_path: Path) -> None:
    memory = made(tmp_path, variant("DF-hybrid"))
    memory.record(episode(OLD))
    report = memory.sleep(DAY)
    assert list(report.changes) == ["consolidate", "capsules", "replay", "repair", "stale", "ground"]
    assert report.changes["consolidate"] == 2
    assert report.changes["capsules"] == 1
