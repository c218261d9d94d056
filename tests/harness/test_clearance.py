"""Conformance before a run: a condition that fails is unavailable in every arm, and neither owed nor counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.rates import rate
from analysis.records import CellRecord
from containers.sandbox import Sandbox
from harness.clearance import FILE, cleared, refused
from harness.config import RunConfig, load
from harness.outcome import Outcome, UsageFault
from harness.records import ArmRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from memory_probe.ladder import conditions
from memory_probe.opening import Condition, Opening
from memory_probe.protocol import Memory, MemoryFault


def gone(opening: Opening) -> Memory:
    raise MemoryFault("the package `elsewhere` is not installed (remedy: pip install elsewhere)")


@pytest.fixture
def known() -> dict[str, Condition]:
    found = dict(conditions())
    found["GONE"] = Condition(replace(found["B5"].card, code="GONE"), gone)
    return found


@pytest.fixture
def config(mini: Mapping[str, str]) -> RunConfig:
    return load(None, ["conditions=B0,GONE,EVIDENCE", "seeds=1", "readers=careful"], dict(mini))


def test_a_memory_that_cannot_work_is_unavailable_and_not_owed(
    config: RunConfig, known: dict[str, Condition], box: Sandbox, tmp_path: Path
) -> None:
    ready = prepare(config, tmp_path / "run", known)
    records: list[ArmRecord] = []
    execute(ready, records.append, sandbox=box)
    ended = {record.condition: record.endings[0] for record in records}
    assert {code: ending.outcome for code, ending in ended.items()} == {
        "B0": Outcome.FAILED,
        "GONE": Outcome.UNAVAILABLE,
        "EVIDENCE": Outcome.PASS,
    }
    assert ended["GONE"].cause.startswith("conformance: ")
    assert "elsewhere" in ended["GONE"].cause
    assert next(r for r in records if r.condition == "GONE").warm_up == ()  # nothing was asked of it
    again = prepare(config, tmp_path / "run", known)
    again.folder.unlock()
    assert again.owed == []
    cell = CellRecord("t", "C1", "GONE", 1, ended["GONE"].outcome.value)
    assert rate([cell]).counted == 0


def test_what_was_found_is_kept_and_instruments_are_not_probed(known: dict[str, Condition], tmp_path: Path) -> None:
    folder = RunDir(tmp_path)
    wanted = {code: known[code] for code in ("B0", "B5", "GONE", "EVIDENCE")}
    first = cleared(folder, wanted, 2)
    assert list(first) == ["B0", "B5", "GONE"]
    assert list(refused(first)) == ["GONE"]
    assert first["B5"].passed >= 10
    stored = json.loads((tmp_path / FILE).read_text())
    stored["conditions"]["GONE"]["failed"] = {}
    (tmp_path / FILE).write_text(json.dumps(stored))
    assert refused(cleared(folder, wanted, 2)) == {}  # read, not judged anew
    other = {"GONE": Condition(replace(known["GONE"].card, version="2"), gone)}
    assert list(refused(cleared(folder, other, 1))) == ["GONE"]  # another version is


def test_a_damaged_file_is_named(known: dict[str, Condition], tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"schema": 1, "conditions": {"B5": {"version": 3}}}')
    with pytest.raises(UsageFault, match=r"conformance\.json: damaged"):
        cleared(RunDir(tmp_path), {"B5": known["B5"]}, 1)
