"""`memory inspect` and `memory verify`, and what `show` and `report` say of memories, on a run of the mini trap."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from containers.sandbox import Sandbox
from harness.cli.main import cli
from harness.cli.output import committed
from harness.config import load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.records import ArmRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from harness.stores import restore_store

ARM = "c1_label/{}/1/given"


@pytest.fixture(scope="module")
def run(mini: Mapping[str, str], box: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of our own that the tests of this file only read."""
    out = tmp_path_factory.mktemp("cli") / "run"
    config = load(None, ["seeds=1", "conditions=B0,B5,DF,DF-hybrid,POISON"], dict(mini))
    records: list[ArmRecord] = []
    execute(prepare(config, out), records.append, sandbox=box)
    return out


def call(*words: object) -> tuple[int, str]:
    """(exit code, stdout). Raises what the command raises."""
    result = CliRunner().invoke(cli, [str(w) for w in words], standalone_mode=False, catch_exceptions=False)
    return result.return_value, result.stdout


def data(*words: object) -> Any:
    return json.loads(call(*words, "--json")[1])


def test_inspect_tells_a_probe_store_whole(run: Path) -> None:
    code, text = call("memory", "inspect", run, ARM.format("DF"))
    assert code == COMPLETE
    assert "is superseded by memory" in text
    assert "evidence: episode:1/note:1" in text
    assert "S3 was shown" in text
    assert "left out (status: it is superseded): " in text


def test_inspect_lists_a_simple_store(run: Path) -> None:
    found = data("memory", "inspect", run, ARM.format("B5"))
    assert [r["state"] for r in found["records"]] == ["unknown", "unknown"]
    assert found["told"] == ""
    assert len(found["view"]["items"]) == 2
    assert "2 records" in call("memory", "inspect", run, ARM.format("B5"))[1]


def test_inspect_names_an_arm_that_is_not_there(run: Path) -> None:
    with pytest.raises(UsageFault, match="not in the ledger"):
        call("memory", "inspect", run, ARM.format("B3"))


def test_verify_passes_a_sound_run(run: Path) -> None:
    assert call("memory", "verify", run) == (COMPLETE, "5 stores, 0 problems\n")
    assert data("memory", "verify", run, ARM.format("DF"))["found"] == {ARM.format("DF"): []}


def test_verify_finds_a_changed_probe_store(run: Path, tmp_path: Path) -> None:
    home = RunDir.open(run)
    store = next(b for b in _stores(run) if "DF" in b[0])
    ((name, image),) = restore_store(home, store[1]).items()
    file = tmp_path / name
    file.write_bytes(image)
    assert call("memory", "verify", file)[0] == COMPLETE
    with sqlite3.connect(file) as db:
        db.execute("UPDATE standing SET changes = replace(changes, '0.9', '0.8') WHERE memory = 1")
    code, text = call("memory", "verify", file)
    assert code == REJECTED
    assert "its lifecycle does not lead to its standing" in text


def test_verify_finds_a_damaged_blob(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    arm, blob = next(b for b in _stores(copy) if "B5" in b[0])
    path = copy / "blobs" / blob[:2] / blob
    path.write_bytes(path.read_bytes() + b" ")
    found = data("memory", "verify", copy)
    assert found["problems"] == 1
    assert "damaged" in found["found"][arm][0]["message"]
    assert call("memory", "verify", copy)[0] == REJECTED


def test_verify_of_nothing_is_a_problem(tmp_path: Path) -> None:
    assert call("memory", "verify", tmp_path / "none.sqlite")[0] == REJECTED
    with pytest.raises(UsageFault, match="no run here"):
        call("memory", "verify", tmp_path, ARM.format("B5"))


def _stores(run: Path) -> list[tuple[str, str]]:
    return [(r.arm, r.store) for r in committed(RunDir.open(run))]


def test_show_prints_the_funnel_of_an_arm(run: Path) -> None:
    _, text = call("show", run, ARM.format("DF"))
    assert "fact mark [governing] used\n" in text
    assert "fact old_mark [superseded] written: superseded after sleep\n" in text
    assert "public check of S3: passed" in text


def test_the_report_holds_the_memory_sections_without_instruments(run: Path) -> None:
    titles = ("Fact funnel", "Hygiene (from tracers)", "Operators and gates that were inert")
    _, text = call("report", run)
    _, markdown = call("report", run, "--markdown")
    sections = dict(part.split("\n", 1) for part in markdown.split("\n## ")[1:])
    for title in titles:
        assert f"\n{title}\n" in text
        assert "POISON" not in sections[title]
        assert "DF-hybrid" in sections[title]
    assert "POISON" in markdown
    assert "replay, stale, ground" in sections[titles[2]]


def test_the_report_as_data_holds_every_row(run: Path) -> None:
    found = data("report", run)
    assert len(found["arms"]) == 10
    assert len(found["facts"]) == 4 * 2 * 2
    assert {row["condition"] for row in found["hygiene"]} == {"B0", "B5", "DF", "DF-hybrid"}
    acted = {(p["condition"], p["kind"], p["name"]): p["acted"] for p in found["parts"]}
    assert acted["DF", "operator", "repair"] > 0
    assert acted["DF", "operator", "replay"] == acted["DF", "gate", "risk"] == 0
    assert acted["DF", "gate", "status"] == 1
    assert ("DF", "operator", "capsules") not in acted
    assert ("DF-hybrid", "operator", "capsules") in acted
