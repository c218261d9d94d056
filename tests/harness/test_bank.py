"""What an arm writes down about its memory: sleep, rejections, contradictions, the funnel, and what a session told."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

import analysis.funnel
from containers.sandbox import Sandbox
from harness import bank, funnel
from harness.bank import Bank, item_classes
from harness.config import load
from harness.draw import draw_one
from harness.plan import select
from harness.records import ArmRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from memory_probe.baselines import NoMemory
from memory_probe.ladder import Condition, conditions
from memory_probe.protocol import (
    Budget,
    Card,
    Episode,
    Query,
    Receipt,
    Rejected,
    SleepReport,
    Unlisted,
    View,
    ViewItem,
)
from traps import schema

CARD = Card("WATCH", "keeps nothing that anybody could list", "1", ("state",))


class Watch(NoMemory):
    """A memory of our own that cannot be listed; it remembers what it was told, for the test."""

    def __init__(self, told: list[Episode]) -> None:
        super().__init__(CARD)
        self._told = told

    def record(self, episode: Episode) -> list[Receipt]:
        self._told.append(episode)
        return [Receipt("ok", note.text) for note in episode.notes]

    def sleep(self, now: dt.date) -> SleepReport:
        return SleepReport({"merge": 2, "tidy": 0})

    def read(self, query: Query, budget: Budget) -> View:
        return View((), (Rejected("a", "gate: shut"), Rejected("b", "gate: shut as well"), Rejected("c", "late")), 3)

    def records(self, include_inactive: bool) -> Unlisted:  # type: ignore[override]
        return Unlisted("no listing")


def watched(
    mini: Mapping[str, str], box: Sandbox, folder: Path, script: str, checks: bool = True
) -> tuple[ArmRecord, list[Episode]]:
    traps = folder / "traps"
    shutil.copytree(mini["traps_dir"], traps)
    if not checks:
        file = traps / "c1" / "label" / "trap.toml"
        lines = ["check = []" if line.startswith("check =") else line for line in file.read_text().splitlines()]
        file.write_text("\n".join(lines))
    program = folder / "agent"
    program.mkdir()
    (program / "agent.py").write_text(script, encoding="utf-8")
    words = ["seeds=1", "conditions=WATCH", "agent.name=command", f"agent.program={program}"]
    words.append('agent.command=["python3","/agent/agent.py"]')
    told: list[Episode] = []
    known = {"WATCH": Condition(CARD, lambda opening: Watch(told))}
    ready = prepare(load(None, words, {**mini, "traps_dir": str(traps)}), folder / "run", known)
    records: list[ArmRecord] = []
    execute(ready, records.append, sandbox=box, unavailable={})
    (record,) = records
    return record, told


def test_what_a_memory_did_is_written_down(mini: Mapping[str, str], box: Sandbox, tmp_path: Path) -> None:
    record, told = watched(mini, box, tmp_path, "pass")
    assert record.sleep == {"merge": 4, "tidy": 0}
    assert record.refused == {"gate": 6, "late": 3}
    assert record.contradictions == ()
    (ending,) = record.endings
    assert {(t.name, t.stage, t.lost) for t in ending.funnel} == {
        ("old_mark", "written", "unknown: no listing"),
        ("mark", "written", "unknown: no listing"),
    }
    assert ending.check is True
    # a session that left its check failing says so, with what the check printed
    assert record.warm_up == (False, False)
    assert [e.check_passed for e in told] == [False, False]
    assert "ModuleNotFoundError" in told[0].check_output


@pytest.mark.parametrize(("script", "passed"), [("pass", True), ("raise SystemExit(3)", False)])
def test_without_a_check_the_exit_status_tells(
    script: str, passed: bool, mini: Mapping[str, str], box: Sandbox, tmp_path: Path
) -> None:
    record, told = watched(mini, box, tmp_path, script, checks=False)
    assert record.warm_up == (None, None)
    assert [(e.check_passed, e.check_output) for e in told] == [(passed, ""), (passed, "")]
    assert [e.check for e in record.endings] == [None]


def test_a_store_that_tells_states_is_asked_for_its_contradictions(run_mini) -> None:  # type: ignore[no-untyped-def]
    done = run_mini("conditions=B0,B5,DF,A2", "readers=careful")
    by_code = {r.condition: r for r in done.records}
    assert by_code["B5"].contradictions == by_code["B0"].contradictions == ()
    (pair,) = by_code["DF"].contradictions
    assert (pair.old, pair.new, pair.old_inactive, pair.new_active) == ("old_mark", "mark", True, True)
    assert pair.linked is True
    (pair,) = by_code["A2"].contradictions
    assert (pair.old_inactive, pair.new_active) == (False, True)
    assert pair.linked is False  # without repair nothing says what replaced the old one
    assert by_code["DF"].sleep["repair"] > 0
    assert by_code["DF"].sleep["replay"] == 0
    assert "repair" not in by_code["A2"].sleep
    assert by_code["DF"].refused["status"] == 1
    assert by_code["B5"].shown_types == ("human_feedback",) * 2
    assert by_code["B5"].shown == ("useful", "stale")
    traced = {t.name: t for t in by_code["B5"].endings[0].funnel}
    assert (traced["mark"].stage, traced["mark"].kind, traced["mark"].after) == ("used", "human_feedback", 2)
    assert (traced["old_mark"].stage, traced["old_mark"].after) == ("admitted", 1)


@pytest.fixture
def scoped(tmp_path: Path) -> Bank:
    """The bank of an arm of a C5 trap: a token that governs one list, and a bare decoy note about another thing."""
    config = load(None, ["traps=c5_list_handling"])
    (trap,) = select(config, config.cache_dir).values()
    (tmp_path / "blobs").mkdir()
    history = trap.history("given")
    return Bank(trap, history, draw_one(trap), conditions()["B5"], Budget(), RunDir(tmp_path), tmp_path)


def test_misuse_of_a_bare_note_is_what_no_token_explains(scoped: Bank) -> None:
    mark, number = scoped.draw.facts["mark"], scoped.draw.refs["e2"]
    scoped.view = View((ViewItem(f"use {mark}"), ViewItem(f"note {number}: names are typed")))

    def stages(used: tuple[str, ...], passed: bool, trapped: bool) -> dict[str, str]:
        return {t.name: t.stage for t in scoped.traces(used, passed, trapped)}

    assert stages((), False, True) == {"mark": "admitted", "note e2": "used"}
    assert stages(("mark",), False, True) == {"mark": "used", "note e2": "admitted"}
    assert stages(("mark",), True, False) == {"mark": "used", "note e2": "admitted"}


def test_naming_the_number_of_a_note_is_not_carrying_its_token(scoped: Bank) -> None:
    mark, numbers = scoped.draw.facts["mark"], scoped.draw.refs
    texts = (mark, f"replaces {numbers['e1']}", numbers["e2"], numbers["p1"], "nothing")
    scoped.view = View(tuple(ViewItem(text) for text in texts))
    assert item_classes(scoped) == ("useful", "irrelevant", "distracting", "harmful", "irrelevant")


def test_a_stored_view_keeps_every_rejection_that_carries_a_fact(scoped: Bank) -> None:
    others = [Rejected(f"background {n}", "late") for n in range(500)]
    telling = Rejected(f"note {scoped.draw.refs['e2']}", "late")
    stored = json.loads(scoped.view_json(View((), (*others, telling), 501)))
    assert (len(stored["rejected"]), stored["rejected"][0]["text"]) == (201, telling.text)


def test_the_rooms_mean_the_same_by_roles_and_stages() -> None:
    assert bank.GOVERNING == analysis.funnel.GOVERNING
    assert funnel.STAGES == analysis.funnel.STAGES
    roles = set(schema.Role.__args__)  # type: ignore[attr-defined]
    assert roles == bank.GOVERNING | {"superseded", "distractor", "decoy", "spurious"}
