"""Docker and bubblewrap give the same outcomes, trees and warm-ups on the same draw."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.config import ROOT, load
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.outcome import Outcome
from harness.records import ArmRecord
from harness.run import execute, prepare
from harness.snapshot import tree_id

TRAPS = ("c3/late_alerts", "c5/list_handling")
READERS = ("careful", "credulous")
CACHE = re.compile(r"__pycache__/|\.pytest_cache/")
#: The small trap in all conditions; the real ones where they differ most (a container start is not free).
RUNS = {
    "mini": (("c1_label",), ("B0", "B5", "ALL", "EVIDENCE", "POISON")),
    "real": (tuple(trap.replace("/", "_") for trap in TRAPS), ("B0", "ALL", "POISON")),
}

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class Seen:
    """What a run found, without anything of time, place or engine."""

    endings: Mapping[tuple[str, str], tuple[str, str]]  # (arm, reader) -> (outcome, cause)
    checks: Mapping[tuple[str, str], tuple[tuple[str, bool, bool], ...]]
    changed: Mapping[tuple[str, str], tuple[tuple[str, ...], ...]]
    trees: Mapping[tuple[str, int, str], tuple[str, str]]  # (arm, session, reader) -> ids in, out without caches
    warm_up: Mapping[str, tuple[bool | None, ...]]
    stores: Mapping[str, str]


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory, mini: Mapping[str, str]) -> dict[str, str]:
    """Folders with the mini trap and two real ones, as configuration keys."""
    base = tmp_path_factory.mktemp("engines")
    for room in ("traps", "oracles"):
        shutil.copytree(mini[f"{room}_dir"], base / room)
        for trap in TRAPS:
            shutil.copytree(ROOT / room / trap, base / room / trap)
            if room == "traps":
                fixture = next(
                    line.split('"')[1]
                    for line in (ROOT / room / trap / "trap.toml").read_text().splitlines()
                    if line.startswith("fixture = ")
                )
                target = base / room / "fixtures" / fixture
                shutil.copytree(ROOT / room / "fixtures" / fixture, target, dirs_exist_ok=True)
    return {"traps_dir": str(base / "traps"), "oracles_dir": str(base / "oracles")}


def run(places: Mapping[str, str], out: Path, sandbox: Sandbox, *words: str) -> Seen:
    config = load(None, ["seeds=1", *words], dict(places))
    assert config.sandbox == sandbox.name
    assert config.readers == READERS
    records: list[ArmRecord] = []
    execute(prepare(config, out), records.append, sandbox=sandbox)
    return seen(out, records)


def seen(out: Path, records: list[ArmRecord]) -> Seen:
    endings = {(r.arm, e.reader): e for r in records for e in r.endings}
    store = ObjectStore(out / "objects.git")
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        sessions = {(r.arm, s.number, s.reader): s for r in records for s in ledger.sessions(r.arm, r.attempt)}
    return Seen(
        endings={key: (e.outcome.value, e.cause) for key, e in endings.items()},
        checks={key: tuple((c.name, c.held, c.choked) for c in e.checks) for key, e in endings.items()},
        changed={key: (e.production, kept(e.stripped), e.forbidden, e.used) for key, e in endings.items()},
        trees={key: (s.tree_in, without_caches(store, s.tree_out)) for key, s in sessions.items()},
        warm_up={r.arm: r.warm_up for r in records},
        stores={r.arm: r.store for r in records},
    )


def kept(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Without caches, which follow the interpreter and the test runner of the engine and are never scored."""
    return tuple(path for path in paths if not CACHE.search(path))


def without_caches(store: ObjectStore, tree: str) -> str:
    """The id that a tree has without caches."""
    return tree_id({path: entry for path, entry in store.get(tree).items() if not CACHE.search(path.decode())})


@pytest.mark.long
@pytest.mark.parametrize("which", ["mini", "real"])
def test_both_engines_agree_on_one_draw(
    which: str, places: dict[str, str], tmp_path: Path, box: Sandbox, docker_box: Sandbox
) -> None:
    traps, conditions = RUNS[which]
    words = (f"traps={','.join(traps)}", f"conditions={','.join(conditions)}")
    one = run(places, tmp_path / "one", box, *words)
    two = run(places, tmp_path / "two", docker_box, *words, "sandbox=docker", f"facts_from={tmp_path / 'one'}")
    reports = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("one", "two")]
    assert reports[0]["draw_digest"] == reports[1]["draw_digest"]
    assert reports[0]["plan_digest"] == reports[1]["plan_digest"]
    assert (reports[0]["draw_reused"], reports[1]["draw_reused"]) == (False, True)

    arms = len(conditions) * len(traps)
    assert len(one.endings) == arms * len(READERS)
    assert len(one.trees) == arms * (2 + len(READERS))
    assert not [key for key, (outcome, _) in one.endings.items() if outcome == Outcome.INVALID]
    # Outcomes differ among the arms, so that agreement says something.
    assert len({outcome for outcome, _ in one.endings.values()}) > 1
    for part in ("endings", "checks", "changed", "trees", "warm_up", "stores"):
        assert getattr(one, part) == getattr(two, part), part


def test_another_draw_is_seen_as_another(places: dict[str, str], tmp_path: Path, box: Sandbox) -> None:
    """The comparison can fail: trees and stores follow the facts, outcomes follow the notes."""
    words = ("conditions=ALL", "traps=c1_label")
    one, two = (run(places, tmp_path / name, box, *words) for name in ("one", "two"))
    assert one.endings == two.endings
    assert one.trees != two.trees
    assert one.stores != two.stores
