"""B5-paper keeps the first event of a session only: it differs from B5 exactly where a later one carries the fact."""

from __future__ import annotations

import pytest

from containers.sandbox import Sandbox
from harness.config import load
from harness.outcome import Outcome
from harness.records import ArmRecord
from harness.run import Prepared, execute, prepare
from traps.load import Trap

pytestmark = pytest.mark.long

TRAPS = ("c1_return_form", "c2_broker_lane", "c4_parking_route", "c7_archive_check")


@pytest.fixture(scope="module")
def played(box: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> tuple[Prepared, list[ArmRecord]]:
    words = [f"traps={','.join(TRAPS)}", "conditions=B5,B5-paper", "seeds=1", "readers=careful"]
    ready = prepare(load(None, words), tmp_path_factory.mktemp("first") / "run")
    records: list[ArmRecord] = []
    execute(ready, records.append, sandbox=box)
    return ready, records


def needs_a_later_event(trap: Trap, history: str) -> bool:
    """Is some event that the work needs not the first of its session?"""
    first = {events[0].id for after in (1, 2) if (events := trap.events(history, after))}
    return any(event.id not in first for event in trap.evidence(history))


def test_the_two_differ_exactly_there(played: tuple[Prepared, list[ArmRecord]]) -> None:
    ready, records = played
    outcomes = {(r.trap, r.condition): r.endings[0].outcome for r in records}
    later = {t for t in TRAPS if needs_a_later_event(ready.plan.traps[t], "given")}
    assert later == {"c2_broker_lane"}  # both kinds are there, else nothing would be shown
    assert all(outcomes[t, "B5"] == Outcome.PASS for t in TRAPS)
    assert {t for t in TRAPS if outcomes[t, "B5-paper"] != Outcome.PASS} == later


def test_the_funnel_says_where_the_fact_was_lost(played: tuple[Prepared, list[ArmRecord]]) -> None:
    _, records = played
    (lossy,) = [r for r in records if r.trap == "c2_broker_lane" and r.condition == "B5-paper"]
    (lost,) = [t for t in lossy.endings[0].funnel if t.role == "governing"]
    assert lost.stage == "injected"
    assert "first event" in lost.lost
