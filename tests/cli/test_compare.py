"""`dreambench compare` over real runs of the mini trap."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from containers.sandbox import Sandbox
from harness.cli.main import cli
from harness.config import load
from harness.ledger import Ledger
from harness.outcome import Outcome, UsageFault
from harness.records import ArmRecord
from harness.run import execute, prepare


@dataclass(frozen=True)
class Runs:
    """`first`: no background; `filled`: the same draw with one; `idle`: the same draw, an agent that does nothing."""

    first: Path
    filled: Path
    idle: Path


@pytest.fixture(scope="module")
def runs(mini: Mapping[str, str], box: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    home = tmp_path_factory.mktemp("compare")

    def run(name: str, *words: str) -> Path:
        base = {**mini, "conditions": "B0,B5", "readers": "careful", "seeds": 1}
        ready = prepare(load(None, words, base), home / name)
        execute(ready, lambda record: None, sandbox=box, unavailable={})
        return home / name

    first = run("first")
    same = f"facts_from={first}"
    return Runs(first, run("filled", same, "haystack=40"), run("idle", same, "agent.name=nop"))


def call(*words: object) -> Result:
    found = CliRunner().invoke(cli, ["compare", *map(str, words)], standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    return found


def flat(result: Result) -> str:
    return " ".join(result.stdout.split())


def contents(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def test_a_haystack_buries_the_notes_and_leaves_the_control(runs: Runs) -> None:
    before = [contents(run) for run in (runs.first, runs.filled)]
    found = call(runs.first, runs.filled, "--factor", "haystack")
    assert found.return_value == 0
    text = flat(found)
    assert "Factor: haystack." in text
    assert "config.haystack 0 -> 40" in text
    assert "within the band" in text
    assert [contents(run) for run in (runs.first, runs.filled)] == before, "comparing writes nothing"
    assert str(runs.first) not in found.stdout, "a report names no folder of the host"
    data = json.loads(call(runs.first, runs.filled, "--factor", "haystack", "--json").stdout)
    assert data["complete"] is True
    assert data["setting"]["equal"] == 1
    contrast = next(c for c in data["comparison"]["contrasts"] if c["found"]["endpoint"] == "matched")
    assert contrast["found"]["pair"] == {"first": "B5", "second": "B5"}
    assert contrast["found"]["test"]["paired"] == 1
    assert contrast["found"]["first"] == {"passed": 1, "counted": 1, "value": 1.0}
    drift = data["comparison"]["drifts"][0]
    assert (drift["found"]["pair"]["first"], drift["changed"], drift["movable"]) == ("B0", 0, False)


def test_an_agent_can_move_the_control_itself(runs: Runs) -> None:
    text = flat(call(runs.first, runs.idle, "--factor", "agent", "--markdown"))
    assert "The factor (agent) can itself move B0" in text
    assert "The runs share no reader level" in text
    assert "careful of A, none of B" in text
    assert "1 cells passed in A and not in B, 0 in B and not in A." in text
    assert "no edit" in text
    explicit = json.loads(call(runs.first, runs.idle, "--factor", "agent", "--pair", "B0:B0", "--json").stdout)
    contrasts = [c for c in explicit["comparison"]["contrasts"] if c["found"]["endpoint"] == "main"]
    assert [c["found"]["pair"]["first"] for c in contrasts] == ["B5", "B0"]
    assert len(explicit["comparison"]["changes"]) == 1


def test_more_than_the_factor_is_refused(runs: Runs) -> None:
    with pytest.raises(UsageFault, match=r"(?s)more than the factor haystack.*config\.agent\.name"):
        call(runs.filled, runs.idle, "--factor", "haystack")
    both = flat(call(runs.filled, runs.idle, "--factor", "haystack", "--factor", "agent"))
    assert "their effects cannot be told apart" in both
    with pytest.raises(UsageFault, match="no run here"):
        call(runs.first, runs.first.parent)


def test_a_repeat_that_is_not_complete(runs: Runs, tmp_path: Path) -> None:
    """The first run again, but one arm ended otherwise, and one did not run."""
    again = tmp_path / "again"
    shutil.copytree(runs.first, again)
    told = json.loads((again / "run.json").read_text())
    (again / "run.json").write_text(json.dumps({**told, "label": "0" * 16}))
    (again / "ledger.sqlite").unlink()
    with Ledger(runs.first / "ledger.sqlite", read_only=True) as ledger:
        records = {record.arm: record for record in ledger.arms()}
    kept = [r for arm, r in records.items() if arm != "c1_label/B0/1/given"]
    with Ledger(again / "ledger.sqlite") as ledger:
        for record in kept:
            ledger.arm(_failed(record) if record.arm == "c1_label/B5/1/given" else record)
    found = call(runs.first, again)
    assert found.return_value == 2
    text = flat(found)
    assert "a repeat, so there is drift and no contrast" in text
    assert "B is incomplete: 1 of 2 endings are invalid or were not run" in text
    assert "outside: something moved, and the plans are equal" in text
    assert "1 cells passed in A and not in B" in text
    assert "the old box mark is used" in text


def _failed(record: ArmRecord) -> ArmRecord:
    ending = record.endings[0].model_copy(update={"outcome": Outcome.TRAPPED, "cause": "the old box mark is used"})
    return ArmRecord.model_validate_json(record.model_copy(update={"endings": (ending,)}).model_dump_json())
