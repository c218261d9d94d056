"""The discrimination matrix: rows tell what was seen, and the whole fold's is as declared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from containers.sandbox import Sandbox
from harness.cli.main import cli
from harness.config import load
from harness.matrix import Row, cells, matrix
from harness.outcome import COMPLETE, REJECTED
from harness.plan import select

MINI = Path(__file__).parent.parent / "data" / "mini"


def rows(world: Path, box: Sandbox) -> list[Row]:
    config = load(None, [], {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")})
    return list(matrix(config, select(config, config.cache_dir).values(), box))


def test_a_sound_trap_has_one_row_without_complaint(box: Sandbox) -> None:
    (row,) = rows(MINI, box)
    assert cells(row) == ("c1_label", "given", "pass", "failed", "failed", "differ", "-", "naive", "stale")
    assert row.wrong == ()


def test_what_is_not_as_declared_is_marked(tmp_path: Path, box: Sandbox) -> None:
    shutil.copytree(MINI, tmp_path / "mini")
    solutions = tmp_path / "mini/oracles/c1/label/solutions"
    (solutions / "reference/src/mini/labels.py").write_text((solutions / "naive/src/mini/labels.py").read_text())
    (row,) = rows(tmp_path / "mini", box)
    assert cells(row)[2:6] == ("failed!", "failed", "failed", "differ")
    (wrong,) = row.wrong
    assert wrong.startswith("reference: declared pass, got failed (")


def test_work_that_does_not_use_the_evidence_is_the_same_for_two_draws(tmp_path: Path, box: Sandbox) -> None:
    shutil.copytree(MINI, tmp_path / "mini")
    playbook = tmp_path / "mini/traps/c1/label/playbook.py"
    playbook.write_text(playbook.read_text().replace("box mark", "shelf colour"))
    (row,) = rows(tmp_path / "mini", box)
    assert cells(row)[5] == "same!"
    assert [text.partition(" (")[0] for text in row.wrong[:2]] == ["the evidence does not suffice"] * 2
    assert row.wrong[2:] == ("the same S3 change for two draws",)


def test_the_command_prints_one_table_and_rejects(tmp_path: Path) -> None:
    shutil.copytree(MINI, tmp_path / "mini")
    places = ["--traps", str(tmp_path / "mini/traps"), "--oracles", str(tmp_path / "mini/oracles")]
    sound = CliRunner().invoke(cli, ["trap", "matrix", "--all", *places], standalone_mode=False, catch_exceptions=False)
    assert sound.return_value == COMPLETE
    assert "5 solutions of 1 traps were scored; 0 not as declared." in sound.output
    expect = tmp_path / "mini/oracles/c1/label/expect.toml"
    expect.write_text(expect.read_text().replace('"trapped"', '"failed"'))
    call = ["trap", "matrix", "--all", "--json", *places]
    wrong = CliRunner().invoke(cli, call, standalone_mode=False, catch_exceptions=False)
    assert wrong.return_value == REJECTED
    (row,) = json.loads(wrong.output)
    assert row["wrong"] == ["stale: declared failed, got trapped (the old box mark is used)"]


@pytest.mark.long
@pytest.mark.timeout(1800)  # minutes even on an idle machine
def test_every_declared_solution_of_the_whole_fold_gets_what_it_should(box: Sandbox) -> None:
    config = load(None, ["fold=c1-c10"])
    found = list(matrix(config, select(config, config.cache_dir).values(), box))
    assert len({row.trap for row in found}) == 60
    assert {row.trap: row.wrong for row in found if row.wrong} == {}
    for row in found:
        outcomes = {s.solution: s.got for s in row.seen}
        assert outcomes["nothing"] == "failed"
        if row.fresh is not None:
            assert (outcomes["reference"], row.fresh) == ("pass", True)
            assert outcomes["mutated"] in ("failed", "trapped")
