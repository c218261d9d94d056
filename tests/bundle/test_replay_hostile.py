"""Replay of made-up runs: what cannot be scored costs its arm, and nothing is filled in or matched for long."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.bundle.opened import open_run
from harness.config import ROOT
from harness.outcome import Outcome, UsageFault
from harness.replaying.comparison import Difference
from harness.replaying.recorded import Recorded, refuse_slow
from harness.replaying.replay import Replayed, replay, replayed_text, write_replayed
from harness.replaying.slots import fill_strictly
from harness.score import Scorer
from traps.schema import TrapFile, read_toml

from .replay_kit import ALL, Edit, changed, edit, play_mini


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, box: Sandbox) -> Path:
    return play_mini(tmp_path_factory.mktemp("replay") / "run", box)


@pytest.fixture
def copied(sound: Path, tmp_path: Path) -> Path:
    """A copy to edit."""
    shutil.copytree(sound, tmp_path / "edited")
    return tmp_path / "edited"


HOSTILE: dict[str, tuple[str, Edit, str]] = {
    "no such tree": ("session", lambda s: s.update(tree_in="0" * 40), "git ls-tree failed"),
    "an option of git": ("session", lambda s: s.update(tree_out="--help"), "'--help' is no id of a tree"),
    "unavailable": (
        "arm",
        lambda r: [e.update(outcome="unavailable") for e in r["endings"]],  # type: ignore[dict-item]
        "unavailable, and yet sessions are recorded",
    ),
    "no tree": (
        "session",
        lambda s: s.update(tree_out="" if s["number"] == 3 else s["tree_out"]),
        "S3 left no tree that could have been scored",
    ),
    "another trap": ("arm", lambda r: r.update(trap="c1_other"), "the run has no trap 'c1_other'"),
    "another history": ("arm", lambda r: r.update(history="x"), "c1_label has no history 'x'"),
    "another seed": ("arm", lambda r: r.update(seed=7), "no facts are recorded for c1_label seed 7"),
    "another reader": ("session", lambda s: s.update(reader="-"), "no S3 session is recorded"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_scored_is_a_difference_of_its_arm(
    name: str, copied: Path, tmp_path: Path, box: Sandbox
) -> None:
    table, change, why = HOSTILE[name]
    edit(copied, table, ALL, change)
    run = open_run(copied, strange=True)
    done = replay(run, box, 1)
    (here,) = [r for r in done.records if r.condition == "ALL"]
    (other,) = [r for r in done.records if r.condition == "B0"]
    assert {d.arm for d in done.differences} == {ALL}
    assert any(d.field == "scoring" and why in d.replayed for d in done.differences)
    assert (done.scored, done.broken) == (2, 2)
    assert [e.outcome for e in other.endings] == [Outcome.FAILED] * 2
    assert [e.outcome for e in here.endings] == [Outcome.INVALID] * 2
    assert write_replayed(run, done, tmp_path / "out").description().arms == 2


def test_draws_that_share_their_salts_do_not_share_a_verdict(sound: Path, box: Sandbox) -> None:
    """The same trees with other facts: in a made-up run the salts, which name a draw, may be the same."""
    run = open_run(sound, strange=True)
    record = next(r for r in run.records if r.arm == ALL)
    case = Recorded(run).case(record, record.endings[0])
    other = replace(case.draw, facts={**case.draw.facts, "mark": "bm-000000000000"})
    scorer = Scorer(box, run.scoring_plan(), run.config, fill_strictly)
    for draw, outcome in ((case.draw, "pass"), (other, "failed"), (case.draw, "pass")):
        verdict, _ = scorer.judge_once(case.trap, case.history, draw, case.start, case.delta.production)
        assert verdict.outcome == outcome


CHOKE = b"    return subject.mentions(facts.old_mark)"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (b"<< 'a' * 10**9 >>", "mul is not filled here"),
        (b"<<% for i in range(10**9) %>>x<<% endfor %>>", "no statements"),
        (b"<< mark.__class__.__mro__ >>", "getattr '__mro__' is not filled here"),
        (b"<< mark >>", "chokes on the reference too"),  # a sound template: the oracle itself is at fault
    ],
)
def test_a_hostile_template_is_refused_before_it_is_filled(
    template: bytes, why: str, sound: Path, box: Sandbox
) -> None:
    """A choking oracle has the reference solution filled here, on the host."""
    run = open_run(sound, strange=True)
    source = run.oracles["c1_label"].source
    assert CHOKE in source
    hostile = changed(
        run, source.replace(CHOKE, b"    return 1 // 0"), b"def label(name):\n    return '" + template + b"'\n"
    )
    record = next(r for r in run.records if r.arm == ALL)
    done = replay(hostile, box, 1, [record.model_copy(update={"endings": record.endings[:1]})])
    (difference,) = [d for d in done.differences if d.field == "scoring"]
    assert why in difference.replayed
    assert (done.broken, done.scored) == (1, 0)


@pytest.mark.parametrize("pattern", ["**/" * 30 + "x", "*a" * 20, "x" * 301])
def test_patterns_that_take_long_to_match_are_refused(pattern: str, sound: Path, box: Sandbox) -> None:
    run = open_run(sound, strange=True)
    trap = run.traps["c1_label"]
    hostile = replace(trap, spec=trap.spec.model_copy(update={"allow": (pattern,)}))
    done = replay(replace(run, traps={"c1_label": hostile}), box, 1)
    assert (done.broken, done.scored) == (4, 0)
    assert all("has too many wildcards" in d.replayed for d in done.differences)


def test_no_pattern_of_our_own_traps_is_refused() -> None:
    specs = [read_toml(path, TrapFile) for path in sorted(ROOT.glob("traps/c*/*/trap.toml"))]
    assert len(specs) >= 60
    for spec in specs:
        refuse_slow(spec)


def test_a_run_without_its_facts_is_not_scored(sound: Path, box: Sandbox) -> None:
    run = replace(open_run(sound, strange=True), draws={})
    with pytest.raises(UsageFault, match="the facts are not here"):
        replay(run, box, 1)


def test_what_is_printed_holds_no_control_character() -> None:
    told = (Difference("a\x1b[2J", "-", "x\r", "\x07", "\u202e"),)
    done = Replayed((), 0, told, 0, 0, {}, 0, 0.0, 0.0, 0.0)
    assert not any(c in replayed_text(done) for c in "\x1b\r\x07\u202e")
