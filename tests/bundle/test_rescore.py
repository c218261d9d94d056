"""Rescore: recorded changes under other oracles are a run of its own, which names its parent and leaves it alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.bundle.opened import Opened, open_run
from harness.config import load, validate
from harness.outcome import Outcome, UsageFault
from harness.plan import MAX_ORACLE, load_oracles, make
from harness.plan import select as selected
from harness.replaying.replay import replay
from harness.replaying.rescore import Rescored, rescore, rescored_text
from harness.reporting import report
from harness.run import load_plan, prepare
from memory_probe.ladder import conditions
from tests.conftest import MINI
from traps.folds import Fold, fold_text, member_digest

from .replay_kit import files, played

BARE = 'assert subject.call("mini.labels:bare", "tin") == "tin"'


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two traps and a fold of both: the mini trap twice, under two names."""
    home = tmp_path_factory.mktemp("world")
    shutil.copytree(MINI, home, dirs_exist_ok=True)
    for kind in ("traps", "oracles"):
        shutil.copytree(home / kind / "c1/label", home / kind / "c1/second")
    told = home / "traps/c1/second/trap.toml"
    told.write_text(told.read_text().replace('"c1_label"', '"c1_second"'))
    config = load(None, [], {"traps_dir": str(home / "traps"), "oracles_dir": str(home / "oracles")})
    plan = make(config, selected(config, config.cache_dir), dict(conditions()), "x")
    members = {t: member_digest(trap.digest, plan.oracles[t].digest) for t, trap in plan.traps.items()}
    (home / "traps/folds").mkdir()
    fold = Fold(schema=1, name="both", title="Both", members=members)
    (home / "traps/folds/both.toml").write_text(fold_text(fold))
    return home


@pytest.fixture(scope="module")
def parent(world: Path, tmp_path_factory: pytest.TempPathFactory, box: Sandbox) -> Opened:
    places = {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")}
    out = tmp_path_factory.mktemp("parent") / "run"
    return open_run(played(out, box, "fold=both", "conditions=B0,ALL", "readers=careful", places=places), strange=True)


def oracles(world: Path, tmp_path: Path, new: str = 'assert subject.call("mini.labels:bare", "tin") == "can"') -> Path:
    """Only the first trap's oracle, with another check."""
    shutil.copytree(world / "oracles/c1/label", tmp_path / "oracles/c1/label")
    path = tmp_path / "oracles/c1/label/oracle.py"
    assert BARE in path.read_text()
    path.write_text(path.read_text().replace(BARE, new))
    return tmp_path / "oracles"


def outcomes(done: Rescored) -> dict[str, str]:
    return {r.arm: r.endings[0].outcome.value for r in done.replayed.records}


def test_a_new_run_names_its_parent_and_is_whole(world: Path, parent: Opened, tmp_path: Path, box: Sandbox) -> None:
    before, new = files(parent.folder.path), oracles(world, tmp_path)
    done = rescore(parent, box, new, tmp_path / "out", 2)
    assert files(parent.folder.path) == before
    assert outcomes(done) == {
        "c1_label/B0/1/given": "failed",
        "c1_label/ALL/1/given": "failed",  # "pass" in the parent
        "c1_second/B0/1/given": "failed",
        "c1_second/ALL/1/given": "pass",
    }
    (outcome,) = [d for d in done.replayed.differences if d.field == "outcome"]
    assert (outcome.arm, outcome.recorded, outcome.replayed) == ("c1_label/ALL/1/given", "pass", "failed")
    assert (list(done.changed), done.unchanged, done.missing) == (["c1_label"], (), ("c1_second",))
    text = rescored_text(done)
    assert "c1_second: not among the new oracles, scored with the run's own" in text
    assert "c1_label: oracle " in text

    told = done.folder.read_json("run.json")
    old, now = done.changed["c1_label"]
    assert old == parent.stored.meaning["oracles"]["c1_label"]
    assert now == load_oracles(parent.config.model_copy(update={"oracles_dir": str(new)}),
                               {"c1_label": parent.traps["c1_label"]})["c1_label"].digest  # fmt: skip
    date = told["rescored_from"].pop("date")
    assert told["rescored_from"] == {
        "plan_digest": parent.stored.plan_digest,
        "draw_digest": parent.stored.draw_digest,
        "oracles": {"c1_label": {"old": old, "new": now}},
        "unchanged": [],
        "missing": ["c1_second"],
    }
    assert told["meaning"]["oracles"] == {"c1_label": now, "c1_second": parent.stored.meaning["oracles"]["c1_second"]}
    assert told["draw_digest"] == parent.stored.draw_digest
    shown = report(done.folder, done.replayed.records).text
    assert "scored again from" in shown
    assert parent.stored.plan_digest in " ".join(shown.split())
    assert date in " ".join(shown.split())
    assert "scored again from" not in report(parent.folder, parent.records).text

    # it is a run like any other: opened with its own oracles it has the same verdicts, and the plan digest of one that
    # is begun with them, which a fold that was frozen with the old ones is not in any more
    again = open_run(tmp_path / "out", strange=True)
    assert [r.endings[0].outcome for r in again.records] == [r.endings[0].outcome for r in done.replayed.records]
    assert replay(again, box, 2).same
    config = validate(told["config"], "run.json")
    assert (config.fold, config.traps) == ("", ("c1_label", "c1_second"))
    assert load_plan(config).digest == told["plan_digest"] != parent.stored.plan_digest
    ready = prepare(config, tmp_path / "out")
    ready.folder.unlock()
    assert ready.owed == []


def test_an_oracle_that_is_the_same_is_said(world: Path, parent: Opened, tmp_path: Path, box: Sandbox) -> None:
    new = oracles(world, tmp_path, "assert True")
    shutil.copytree(world / "oracles/c1/second", new / "c1/second")
    done = rescore(parent, box, new, tmp_path / "out", 2)
    assert (list(done.changed), done.unchanged, done.missing) == (["c1_label"], ("c1_second",), ())
    assert "c1_second: unchanged" in rescored_text(done)
    assert outcomes(done)["c1_label/ALL/1/given"] == Outcome.PASS


def test_nothing_to_score_again_is_refused(world: Path, parent: Opened, tmp_path: Path, box: Sandbox) -> None:
    with pytest.raises(UsageFault, match="no oracle there differs from those of the run"):
        rescore(parent, box, world / "oracles", tmp_path / "out", 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageFault, match="2 are missing: c1_label, c1_second"):
        rescore(parent, box, tmp_path / "empty", tmp_path / "out", 1)
    with pytest.raises(UsageFault, match="no such folder of oracles"):
        rescore(parent, box, tmp_path / "nowhere", tmp_path / "out", 1)
    with pytest.raises(UsageFault, match="lies in the run itself"):
        rescore(parent, box, world / "oracles", parent.folder.path / "out", 1)
    assert not (tmp_path / "out").exists()


BROKEN = {
    "syntax": (b"def (", "oracle.py:1: "),
    "brackets": (b"-" * 100_000 + b"1", "nested too deeply"),
    "attributes": (b"a" + b".b" * 100_000, "nested too deeply"),
    "size": (b"#" * (MAX_ORACLE + 1), "262145 bytes"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_oracle_is_refused_before_anything_is_scored(
    name: str, world: Path, parent: Opened, tmp_path: Path, box: Sandbox
) -> None:
    source, why = BROKEN[name]
    new = oracles(world, tmp_path)
    (new / "c1/label/oracle.py").write_bytes(source)
    with pytest.raises(UsageFault, match=why):
        rescore(parent, box, new, tmp_path / "out", 1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("declared", "why"),
    [("a = " + "[" * 100_000, "nested too deeply"), ("a." * 2000 + "a = 1", "a line with more than 1000 dots")],
)
def test_declarations_that_cost_too_much_to_read_are_refused(
    declared: str, why: str, world: Path, parent: Opened, tmp_path: Path, box: Sandbox
) -> None:
    new = oracles(world, tmp_path)
    (new / "c1/label/expect.toml").write_text(declared)
    with pytest.raises(UsageFault, match=why):
        rescore(parent, box, new, tmp_path / "out", 1)


def test_a_link_among_the_oracles_is_refused(world: Path, parent: Opened, tmp_path: Path, box: Sandbox) -> None:
    new = oracles(world, tmp_path)
    (new / "c1/label/solutions/link").symlink_to(tmp_path)
    with pytest.raises(UsageFault, match="neither a file nor a folder"):
        rescore(parent, box, new, tmp_path / "out", 1)
