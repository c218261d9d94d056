"""Replay: the same verdicts from a sound run, a named difference from an edited one, and no byte written to either."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from containers.sandbox import Sandbox
from harness.bundle.opened import open_run
from harness.config import load
from harness.outcome import Boundary, Outcome, UsageFault
from harness.records import ArmRecord, Ending
from harness.replaying.replay import replay, replayed_text, sampled, write_replayed
from harness.reporting import report
from harness.run import execute, prepare
from tests.conftest import MINI, RunMini

from .replay_kit import ALL, B0, Edit, again, changed, edit, files, play_mini, played, seen


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, box: Sandbox) -> Path:
    return play_mini(tmp_path_factory.mktemp("replay") / "run", box)


@pytest.fixture
def copied(sound: Path, tmp_path: Path) -> Path:
    """A copy to edit."""
    shutil.copytree(sound, tmp_path / "edited")
    return tmp_path / "edited"


def test_a_sound_run_has_the_same_verdicts_and_report_and_is_not_touched(
    sound: Path, tmp_path: Path, box: Sandbox
) -> None:
    before, run, told = files(sound), open_run(sound, strange=True), list[str]()
    done = replay(run, box, 2, tell=lambda record: told.append(record.arm))
    assert (done.differences, done.same) == ((), True)
    assert (done.scored, done.shared, done.kept, done.broken, done.endings, done.of) == (4, 2, {}, 0, 4, 2)
    assert sorted(told) == sorted([B0, ALL])
    outcomes = {(r.arm, e.reader): e.outcome for r in done.records for e in r.endings}
    assert outcomes[B0, "careful"] == outcomes[B0, "credulous"] == Outcome.FAILED
    assert outcomes[ALL, "careful"] == outcomes[ALL, "credulous"] == Outcome.PASS
    assert outcomes == {(r.arm, e.reader): e.outcome for r in run.records for e in r.endings}
    assert done.recorded > 0
    assert done.judging > 0
    assert sum(e.judging > 0 for r in run.records for e in r.endings) == 2  # the others are shared
    folder = write_replayed(run, done, tmp_path / "again")
    assert report(folder, done.records).text == report(run.folder, run.records).text
    assert files(sound) == before
    assert not {inode for _, inode, _ in files(tmp_path / "again").values()} & {i for _, i, _ in before.values()}
    assert all(links == 1 for _, _, links in files(tmp_path / "again").values())
    copy = open_run(tmp_path / "again", strange=True)
    assert folder.read_json("run.json")["replay_of"] == {
        "plan_digest": run.stored.plan_digest,
        "draw_digest": run.stored.draw_digest,
    }
    assert [r.arm for r in copy.records] == [r.arm for r in run.records]
    assert [copy.sessions(r) for r in copy.records] == [run.sessions(r) for r in run.records]
    assert "Everything is as recorded." in replayed_text(done)
    assert json.loads(json.dumps(done.plain()))["same"] is True


def test_a_new_directory_is_taken_only_where_there_is_nothing(sound: Path, tmp_path: Path, box: Sandbox) -> None:
    run = open_run(sound, strange=True)
    done = replay(run, box, 1, [])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    for out in (tmp_path / "full", tmp_path / "full" / "file", sound):
        with pytest.raises(UsageFault, match=r"there is something already|lies in the run itself"):
            write_replayed(run, done, out)
    with pytest.raises(UsageFault, match="lies in the run itself"):
        write_replayed(run, done, sound / "new")
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["file"]
    assert not (sound / "new").exists()


def test_what_was_not_looked_at_is_owed_in_the_copy(sound: Path, tmp_path: Path, box: Sandbox) -> None:
    run = open_run(sound, strange=True)
    done = replay(run, box, 1, [r for r in run.records if r.arm == B0])
    folder = write_replayed(run, done, tmp_path / "part")
    assert [r.arm for r in open_run(tmp_path / "part", strange=True).records] == [B0]
    assert "2 failed" in report(folder, done.records).text
    assert "2 owed" in report(folder, done.records).text


def first(change: Edit) -> Edit:
    """Of the first ending, that of the careful reader."""
    return lambda record: change(record["endings"][0])


def _flip(check: dict[str, Any]) -> None:
    check["held"] = not check["held"]


EDITS: dict[str, tuple[Edit, tuple[str, str, str, str]]] = {
    "outcome": (first(lambda e: e.update(outcome="failed")), ("careful", "outcome", "failed", "pass")),
    "cause": (first(lambda e: e.update(cause="luck")), ("careful", "cause", "luck", "nothing")),
    "boundary": (first(lambda e: e.update(boundary="agent")), ("careful", "boundary", "agent", "nothing")),
    "used": (first(lambda e: e.update(used=[])), ("careful", "used", "nothing", "mark")),
    "production": (
        first(lambda e: e.update(production=[])),
        ("careful", "production", "nothing", "modified src/mini/labels.py"),
    ),
    "check": (
        first(lambda e: _flip(e["checks"][0])),
        (
            "careful",
            "check current_mark",
            "not held: requires: a label ends with the current box mark",
            "held: requires: a label ends with the current box mark",
        ),
    ),
    "fact": (
        first(lambda e: e["funnel"][1].update(stage="admitted", lost="")),
        ("careful", "fact mark", "admitted", "used"),
    ),
    "expect": (lambda r: r.update(expect="abstain"), ("-", "expect", "abstain", "use")),
    "main": (lambda r: r.update(main=False), ("-", "main", "False", "True")),
    "construct": (lambda r: r.update(construct_="C2"), ("-", "construct_", "C2", "C1")),
    "injected": (lambda r: r.update(injected=["mark"]), ("-", "injected", "('mark',)", "('old_mark', 'mark')")),
    "readers": (lambda r: r["endings"].pop(), ("-", "reader levels", "careful", "careful, credulous")),
}


@pytest.mark.parametrize("name", EDITS)
def test_each_edit_of_a_record_is_one_named_difference(name: str, copied: Path, box: Sandbox) -> None:
    change, due = EDITS[name]
    edit(copied, "arm", ALL, change)
    done = again(copied, box, ALL)
    assert seen(done) == [due]
    assert not done.same
    assert due[1] in replayed_text(done)


def test_swapped_changes_are_seen(copied: Path, box: Sandbox) -> None:
    trees = {}
    for arm in (B0, ALL):
        run = open_run(copied, strange=True)
        (record,) = [r for r in run.records if r.arm == arm]
        trees[arm] = next(s.tree_out for s in run.sessions(record) if (s.number, s.reader) == (3, "careful"))
    where = "json_extract(record, '$.reader') = 'careful'"
    for arm, other in ((B0, ALL), (ALL, B0)):
        edit(copied, "session", arm, lambda s, tree=trees[other]: s.update(tree_out=tree), where)  # type: ignore[misc]
    done = again(copied, box)
    outcomes = {(d.arm, d.recorded, d.replayed) for d in done.differences if d.field == "outcome"}
    assert outcomes == {(B0, "failed", "pass"), (ALL, "pass", "failed")}
    assert {d.reader for d in done.differences} == {"careful"}


def test_a_start_tree_that_the_sessions_before_do_not_lead_to_is_seen(copied: Path, box: Sandbox) -> None:
    run = open_run(copied, strange=True)
    (record,) = [r for r in run.records if r.arm == ALL]
    one, _, three = run.sessions(record)[:3]
    edit(copied, "session", ALL, lambda s: s.update(tree_in=one.tree_in), "json_extract(record, '$.reader')='careful'")
    differences = seen(again(copied, box, ALL))
    assert ("careful", "S3 start tree", one.tree_in, three.tree_in) in differences


def test_endings_that_no_scoring_made_are_kept_and_counted(copied: Path, box: Sandbox) -> None:
    edit(copied, "arm", B0, first(lambda e: e.update(outcome="invalid", boundary="sandbox", cause="full")))
    edit(
        copied, "arm", ALL, first(lambda e: e.update(outcome="failed", boundary="agent", cause="capture limit: S3: x"))
    )
    done = again(copied, box)
    assert done.kept == {"invalid (sandbox)": 1}
    assert "invalid (sandbox)" in replayed_text(done)
    assert (done.scored, done.endings) == (3, 4)
    # a capture limit leaves no tree: with one there, the ending was made by scoring
    assert [(d.field, d.recorded, d.replayed) for d in done.differences if d.field == "cause"] == [
        ("cause", "capture limit: S3: x", "nothing")
    ]


def test_a_capture_limit_and_an_unavailable_condition_are_kept(run_mini: RunMini, box: Sandbox, tmp_path: Path) -> None:
    big = "import os\nos.makedirs('src', exist_ok=True)\nopen('src/big.bin', 'wb').write(b'x' * (15 << 20))\n"
    done = run_mini("conditions=B0", "limits.disk_mib=16", script=big)
    assert done.only().endings[0].cause.startswith("capture limit: S1: ")
    result = again(done.out, box)
    assert (result.same, result.kept, result.scored) == (True, {"capture limit in S1": 1}, 0)
    places = {"traps_dir": str(MINI / "traps"), "oracles_dir": str(MINI / "oracles")}
    ready = prepare(load(None, ["seeds=1", "conditions=B5"], places), tmp_path / "refused")
    execute(ready, lambda record: None, sandbox=box, unavailable={"B5": "it leaks"})
    result = again(tmp_path / "refused", box)
    assert (result.same, result.kept, result.scored) == (True, {"unavailable": 2}, 0)


def test_another_oracle_is_seen_check_by_check(sound: Path, box: Sandbox) -> None:
    run = open_run(sound, strange=True)
    source = run.oracles["c1_label"].source.replace(b'== "tin"', b'== "tin can"')
    done = replay(changed(run, source), box, 2, [r for r in run.records if r.arm == ALL])
    told = {d.field: (d.recorded, d.replayed) for d in done.differences if d.reader == "careful"}
    assert told["outcome"] == ("pass", "failed")
    assert told["check bare_name"][1] == "not held: requires: bare gives the name alone"


def test_a_real_trap_is_replayed_with_every_reader(tmp_path: Path, box: Sandbox) -> None:
    out = played(tmp_path / "real", box, "traps=c3_lossy_code", "conditions=B0,ALL")
    before = files(out)
    done = again(out, box)
    assert done.same
    assert done.scored == 4
    assert {e.outcome for r in done.records for e in r.endings} >= {Outcome.PASS}
    assert files(out) == before


def _record(arm: str) -> ArmRecord:
    ending = Ending(reader="-", outcome=Outcome.INVALID, cause="x", boundary=Boundary.TRAP)
    return ArmRecord(
        arm=arm, trap="t", construct_="C1", condition="B0", seed=1, history="given", main=True, expect="use",
        warm_up=(), carried_by_tree=(), injected=(), receipts=(), store="", shown=(), endings=(ending,),
        seconds=0.0, attempt=1,
    )  # fmt: skip


@given(st.sets(st.text(min_size=1, max_size=5), min_size=1, max_size=30), st.integers(1, 40), st.integers(0, 2**63))
def test_a_sample_is_the_same_for_the_same_seed_whatever_the_order(arms: set[str], n: int, seed: int) -> None:
    records = [_record(arm) for arm in sorted(arms)]
    one = sampled(records, n, seed)
    assert len(one) == min(n, len(arms))
    assert one == sorted(one, key=lambda record: record.arm)
    assert {r.arm for r in sampled(records[::-1], n, seed)} == {r.arm for r in one}


def test_a_sample_is_the_one_that_was_told() -> None:
    records = [_record(f"t/B0/{seed}/given") for seed in range(10)]
    assert [r.arm for r in sampled(records, 3, 7)] == ["t/B0/2/given", "t/B0/5/given", "t/B0/6/given"]
    with pytest.raises(UsageFault, match="at least one"):
        sampled(records, 0, 1)
