"""A namespace as its users see it: turns, closing, records, isolation, evidence and links."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_probe.probe import ProbeMemory
from memory_probe.protocol import MemoryFault
from memory_probe.store.model import Link, Provenance

from .probe_kit import DAY, QUERY, WIDE, episode, item, made, note, planted, problems, shown, states


def test_two_openers_take_turns_and_see_each_other(tmp_path: Path) -> None:
    one, two = made(tmp_path), made(tmp_path)
    for number in range(6):
        writer = (one, two)[number % 2]
        writer.record(episode(note(f"reminder {number} to the mail channel"), day=number))
        writer.sleep(DAY)
    assert len([t for t in shown(one) if t.startswith("reminder")]) == 6
    assert shown(one) == shown(two)
    assert problems(tmp_path) == []


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = made(tmp_path)
    memory.close()
    memory.close()
    with pytest.raises(MemoryFault, match="closed"):
        memory.read(QUERY, WIDE)


def test_evidence_that_does_not_exist_is_found(tmp_path: Path) -> None:
    planted(tmp_path / "a", item(provenance=Provenance(feedback=("episode:1/note:7",)))).close()
    assert "episode:1/note:7" in problems(tmp_path / "a")[0].message
    planted(tmp_path / "b", item(provenance=Provenance(task="mail"))).close()
    assert "reaches no raw evidence" in problems(tmp_path / "b")[0].message


def test_records_hold_a_note_before_sleep_and_after(tmp_path: Path) -> None:
    memory = made(tmp_path)
    memory.record(episode(note("reminders go out daily")))
    assert states(memory) == {"reminders go out daily": "unknown"}
    memory.sleep(DAY)
    assert states(memory)["reminders go out daily"] == "active"
    assert [r.status for r in memory.record(episode(note("a"), note("b")))] == ["ok", "ok"]


def test_a_namespace_sees_no_other(tmp_path: Path) -> None:
    a, b = made(tmp_path / "a-b"), made(tmp_path / "a" / "b")
    a.record(episode(note("reminders are red")))
    a.sleep(DAY)
    assert shown(b) == []


def test_links_are_written_once(tmp_path: Path) -> None:
    twice = (Link(2, "contradicts", 1), Link(2, "contradicts", 1))
    memory: ProbeMemory = planted(tmp_path, item("a"), item("b"), links=twice)
    assert memory._derived.view.links == {Link(2, "contradicts", 1)}
    assert problems(tmp_path) == []
