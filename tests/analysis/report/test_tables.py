"""The report on a run: its numbers agree with the rows, and its words with the gates."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from analysis.records import ArmRow, Outcome, RecordError
from analysis.report.claims import claim
from analysis.report.layout import Document, Table
from analysis.report.tables import build, markdown_report, text_report

HISTORIES = {"C1": [("given", True)], "C10": [("absent", True), ("given", False)]}


def run(condition: str, outcome: Outcome, reader: str = "careful", traps: int = 8, **change: Outcome) -> list[ArmRow]:
    """Arms of a small fold; `change` gives some trap (by name) another outcome."""
    rows = []
    for number in range(traps):
        construct = "C10" if number % 4 == 3 else "C1"
        trap = f"t{number}"
        for history, main in HISTORIES[construct]:
            found = change.get(trap, outcome)
            cause = "" if found == "pass" else "old value"
            rows.append(ArmRow(trap, construct, condition, 1, history, main, reader, found, cause))
    return rows


def table(document: Document, section: str, title: str) -> Table:
    (found,) = [t for s in document.sections if s.title == section for t in s.tables if t.title == title]
    return found


def row(found: Table, *start: str) -> tuple[str, ...]:
    (line,) = [r for r in found.rows if r[: len(start)] == start]
    return line


LEVEL = "Reader level: careful"


def test_headline_has_both_endpoints_with_intervals() -> None:
    rows = run("B0", "failed") + run("B5", "pass")
    rows = [r if (r.trap, r.history, r.condition) != ("t3", "given", "B5") else _with(r, "trapped") for r in rows]
    headline = table(build(rows), LEVEL, "Pass@1")
    assert row(headline, "B5") == ("B5", "0.875", "[0.529, 0.978]", "7/8", "1.000", "[0.676, 1.000]", "8/8")
    assert row(headline, "B0")[1:4] == ("0.000", "[0.000, 0.324]", "0/8")
    assert headline.rows[0][0] == "B0"


def _with(arm: ArmRow, outcome: Outcome) -> ArmRow:
    return ArmRow(arm.trap, arm.construct, arm.condition, arm.seed, arm.history, arm.main, arm.reader, outcome)


def test_contrast_is_the_exact_test() -> None:
    contrasts = table(build(run("B5", "pass") + run("B0", "failed")), LEVEL, "Each condition against B0")
    assert row(contrasts, "B5", "main")[2:] == ("+8", "8", "0", "8", "0", "8", "0", "0.007812", "better")


def test_what_does_not_separate_is_never_called_equal() -> None:
    rows = run("B0", "failed") + run("RAG", "failed", t0="pass")
    text = text_report(rows)
    assert row(table(build(rows), LEVEL, "Each condition against B0"), "RAG", "main")[-1] == "not separated"
    assert not re.search(r"\b(equal|same|no difference|identical|null)\b", text, re.I)


def test_no_opportunity_is_a_dash_and_never_a_zero() -> None:
    rows = run("B0", "failed") + run("X", "unavailable") + run("B5", "pass", traps=2)
    document = build(rows)
    assert row(table(document, LEVEL, "Pass@1"), "X")[1:] == ("-",) * 6
    assert row(table(document, LEVEL, "Pass/counted by construct, matched"), "C10") == ("C10", "0/2", "-", "-")
    contrast = row(table(document, LEVEL, "Each condition against B0"), "X", "main")
    assert contrast[2:] == ("-", "-", "-", "-", "-", "-", "8", "-", "no paired cells")


def test_outcome_counts_sum_to_the_plan() -> None:
    rows = run("B0", "failed", t1="invalid", t2="trapped") + run("B5", "pass", traps=4)
    counts = table(build(rows, planned={"B0": 10, "B5": 10, "Y": 10}), LEVEL, "Outcomes of arms")
    assert row(counts, "B0") == ("B0", "0", "1", "8", "1", "0", "0", "10", "1")
    assert row(counts, "B5") == ("B5", "5", "0", "0", "0", "0", "5", "10", "5")
    assert row(counts, "Y") == ("Y", "0", "0", "0", "0", "0", "10", "10", "10")
    for line in counts.rows:
        assert sum(int(n) for n in line[1:7]) == int(line[7])
    assert row(counts, "all")[7] == "30"


def test_rows_outside_the_plan_are_refused() -> None:
    with pytest.raises(RecordError, match="10 records for a plan of 9"):
        build(run("B0", "failed"), planned={"B0": 9})
    with pytest.raises(RecordError, match="conditions outside the plan: B5"):
        build(run("B5", "failed"), planned={"B0": 10})


def test_causes_are_listed_with_their_counts() -> None:
    found = table(build(run("B0", "failed", t0="trapped")), LEVEL, "Causes of arms that did not pass")
    assert found.rows == (("B0", "failed", "old value", "9"), ("B0", "trapped", "old value", "1"))


def both(careful: Outcome, credulous: Outcome, baseline: Outcome = "failed") -> Sequence[str]:
    rows = run("B0", baseline) + run("B0", baseline, "credulous")
    rows += run("B5", careful) + run("B5", credulous, "credulous")
    return row(table(build(rows), "What may be claimed", "Against B0"), "B5")[1:]


def test_a_difference_needs_both_readers() -> None:
    assert both("pass", "pass") == ("better, at every reader level",) * 2
    assert both("failed", "pass") == ("state exposure only (better for the credulous reader)",) * 2
    assert both("pass", "failed") == ("no claim (reader levels disagree)",) * 2
    assert both("failed", "failed") == ("not separated",) * 2


def test_without_headroom_there_is_no_claim() -> None:
    assert both("failed", "failed", baseline="pass") == ("no claim (the baseline leaves no headroom)",) * 2


def test_one_reader_alone_is_said_to_be_alone() -> None:
    assert claim({"careful": "better"}, True) == "better (careful reader alone)"
    assert claim({"": "better"}, True) == "better"


def test_the_reference_agent_is_memory_delivery() -> None:
    rows = run("B0", "failed") + run("B5", "pass")
    for text in (text_report(rows), markdown_report(rows)):
        assert "memory delivery (deterministic reference agent)" in text.replace("\\", "")
    assert "memory delivery" not in text_report(rows, agent="codex").lower()
    assert "agent codex" in text_report(rows, agent="codex")


def test_an_empty_or_lone_run_still_has_a_report() -> None:
    assert text_report([]).startswith("Memory delivery")
    assert "What may be claimed" not in text_report(run("B0", "failed"))
    assert "Each condition against" not in text_report(run("B5", "pass"))


def test_a_report_is_a_pure_function_of_its_rows() -> None:
    rows = run("B0", "failed") + run("B5", "pass") + run("B5", "pass", "credulous")
    assert markdown_report(rows) == markdown_report(list(rows))
    assert [s.title for s in build(rows).sections][:2] == [LEVEL, "Reader level: credulous"]
