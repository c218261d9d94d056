"""The quick fold against the outcomes that were written down before it was first run."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from harness.ledger import Ledger
from harness.outcome import Outcome
from harness.records import ArmRecord

from ..blindness.blindness_runs import Real

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TABLE = tomllib.loads((Path(__file__).parent.parent / "data" / "expected_outcomes.toml").read_text())
COLUMNS: list[str] = TABLE.pop("columns")
READERS = ("careful", "credulous")


def expected() -> dict[tuple[str, str, str, str], str]:
    """(construct, history, condition, reader) -> outcome."""
    rows = {}
    for construct, histories in TABLE.items():
        for history, cells in histories.items():
            for condition, cell in zip(COLUMNS, cells, strict=True):
                careful, _, credulous = cell.partition("/")
                rows[construct, history, condition, "careful"] = careful
                rows[construct, history, condition, "credulous"] = credulous or careful
    return rows


@pytest.fixture
def records(real: Real) -> list[ArmRecord]:
    with Ledger(real.out / "ledger.sqlite", read_only=True) as ledger:
        return list(ledger.arms())


def test_every_arm_of_the_plan_has_one_outcome_at_each_level(records: list[ArmRecord]) -> None:
    assert len(records) == 60
    assert Counter(e.reader for r in records for e in r.endings) == {"careful": 60, "credulous": 60}
    assert not [e for r in records for e in r.endings if e.outcome == Outcome.INVALID]


def test_outcomes_are_those_that_were_written_down(records: list[ArmRecord]) -> None:
    seen = {(r.construct_, r.history, r.condition, e.reader): e.outcome.value for r in records for e in r.endings}
    wanted = expected()
    assert seen.keys() == wanted.keys()
    assert {k: v for k, v in seen.items() if v != wanted[k]} == {}


def test_warm_up_passes_and_nothing_travels_by_the_tree(records: list[ArmRecord]) -> None:
    assert all(r.warm_up == (True, True) for r in records)
    assert all(r.carried_by_tree == () for r in records)


def test_failures_without_memory_are_for_want_of_the_fact_alone(records: list[ArmRecord]) -> None:
    """Without memory the reference agent does everything but what needs the fact: one requirement is enough to say."""
    for record in records:
        if record.condition == "B0":
            for ending in record.endings:
                assert not any(c.choked for c in ending.checks)
                assert sum(c.held for c in ending.checks if c.kind == "requires") >= 1


def test_what_the_matrix_itself_must_satisfy() -> None:
    """The design's own demands on the table, so that it cannot be bent to whatever was seen."""
    table = expected()
    careful = {(c, h, k): v for (c, h, k, r), v in table.items() if r == "careful"}
    assert all(v == "pass" for (_, _, k), v in careful.items() if k == "EVIDENCE")
    plain = {("C9", "disconfirmed"), ("C10", "absent")}
    assert {(c, h) for (c, h, k), v in careful.items() if k == "B0" and v == "pass"} == plain
    assert all(v != "pass" for (c, _, k), v in careful.items() if k == "POISON" and c not in ("C1", "C7"))
    assert careful["C3", "given", "POISON"] == careful["C3", "given", "B5"] == "trapped"
    assert all(careful[c, "given", "B5"] == "pass" for c in ("C1", "C5", "C7"))
    assert any(careful[c, h, "ALL"] != careful[c, h, "B5"] for c, h, _ in careful)
    assert any(table[c, h, k, "careful"] != v for (c, h, k, _), v in table.items())
