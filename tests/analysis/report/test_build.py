"""The report on a run: its numbers agree with the rows and with each other, and its words with the gates."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from analysis.outcomes import TrapInfo
from analysis.records import ArmRow, RecordError
from analysis.report.build import brief, build
from analysis.report.claims import claim
from analysis.report.figures import Forest, HeatMap
from analysis.report.layout import as_markdown, as_text

from ..test_hygiene import arm as hygiene_arm
from .run_kit import arms, family, levels, line, run_of, table, titles, warm

LEADS = "Exploratory readings: leads, not claims"
CLAIMS = "What may be claimed"
SECTIONS = [
    "Headline",
    "What was run",
    "Registered family",
    "Trap by condition",
    "Fact funnel",
    "Constructs",
    "Hygiene (from tracers)",
    "Operators and gates that were inert",
    "S3 given that S1 and S2 passed",
    "Cost",
    "Exclusions and outcomes",
    "Sensitivities and exploratory contrasts",
]


def test_every_section_is_there_in_order_and_says_how_to_read_it() -> None:
    for rows in (levels(B0="f", B5="p"), arms("B0", "f")):
        document = build(run_of(rows))
        assert [section.title for section in document.sections] == SECTIONS
        assert all(section.paragraphs for section in document.sections)


def test_headline_has_both_endpoints_with_both_intervals() -> None:
    rows = arms("B0", "f") + arms("B5", "p")
    rows = [r if (r.trap, r.history, r.condition) != ("t3", "given", "B5") else _trapped(r) for r in rows]
    headline = table(build(run_of(rows)), "Pass@1 (careful reader)")
    found = line(headline, "B5", "matched")
    assert found[2:4] == ("0.875", "[0.529, 0.978]")
    assert re.fullmatch(r"\[0\.\d{3}, 1\.000\]", found[4])
    assert found[5:] == ("7/8", "7/8")
    assert line(headline, "B5", "main")[2:] == ("1.000", "[0.676, 1.000]", "-", "8/8", "8/8")
    assert headline.rows[0][:2] == ("B0", "matched")


def _trapped(arm: ArmRow) -> ArmRow:
    return replace(arm, outcome="trapped", cause="old value")


def test_all_seeds_is_by_trap() -> None:
    rows = arms("B5", "p", seeds=3)
    rows = [r if (r.trap, r.seed) != ("t0", 2) else _trapped(r) for r in rows]
    rows = [r if (r.trap, r.seed) != ("t1", 1) else replace(r, outcome="invalid") for r in rows]
    assert line(table(build(run_of(rows)), "Pass@1 (careful reader)"), "B5", "matched")[5:] == ("22/23", "6/7")


def test_no_opportunity_is_a_dash_and_never_a_zero() -> None:
    document = build(run_of(arms("B0", "f") + arms("X", "u") + arms("B5", "p", traps=2)))
    assert line(table(document, "Pass@1 (careful reader)"), "X", "main")[2:] == ("-",) * 5
    assert line(table(document, "Passed by construct (careful reader, matched)"), "C10")[2:5] == ("0/2", "-", "-")
    contrast = line(table(document, "Exploratory: not in the family (careful reader, main)"), "X", "B0")
    assert contrast[2:] == (*("-",) * 8, "1")
    assert line(table(document, LEADS), "X - B0")[1:] == ("unavailable (neither a null nor a loss)",) * 2


def test_the_primary_contrast_is_first_also_when_it_shows_nothing() -> None:
    mine = family("X B5 B0", "Y RAG B0", primary="Y")
    document = build(run_of(levels(B0="f", B5="p", RAG="f"), family=mine))
    first = [t.title for t in document.sections[0].tables]
    assert first == ["Pass@1 (careful reader)", "Pass@1 (credulous reader)", CLAIMS]
    assert [row[:2] for row in table(document, CLAIMS).rows] == [
        ("Y: RAG - B0", "not separated"),
        ("X: B5 - B0", "B5 passes more, at every reader level"),
    ]
    assert table(document, CLAIMS).rows[1][2:4] == ("0.0009766", "0.0009766")  # two slots, twelve traps
    for section in document.sections:
        for figure in section.figures:
            if isinstance(figure, Forest):
                assert (figure.rows[0].label, figure.rows[0].primary) == ("Y: RAG - B0", True)
    assert table(document, "Registered family: mine (careful reader, matched)").rows[0][0] == "Y"


@pytest.mark.parametrize(
    ("b5", "b0", "words"),
    [
        ("p", "f", "B5 passes more, at every reader level"),
        ("f p", "f", "state exposure only (B5 passes more for the credulous reader)"),
        ("p f", "f", "no claim (reader levels disagree)"),
        ("f", "f", "not separated"),
        ("f", "p", "no claim (the baseline leaves no headroom)"),
        ("p", "f pppf", "no claim (the baseline leaves no headroom)"),
        ("i", "f", "unavailable (neither a null nor a loss)"),
        ("pi", "f", "no claim (a validity gate of the contrast fails)"),
    ],
)
def test_claims_are_worded_by_readers_and_gates(b5: str, b0: str, words: str) -> None:
    document = build(run_of(levels(B0=b0, B5=b5), family=family("M B5 B0")))
    assert table(document, CLAIMS).rows[0][1] == words


def test_one_reader_alone_is_said_to_be_alone() -> None:
    assert claim({"careful": "A passes more"}) == "A passes more (careful reader alone)"
    assert claim({"": "A passes more"}) == "A passes more"
    assert claim({"careful": "better", "credulous": "better"}) == "better, at every reader level"
    assert claim({"careful": "better", "credulous": "worse"}) == "no claim (reader levels disagree)"


def test_instruments_are_in_rates_and_in_no_claim() -> None:
    rows = levels(B0="f", B5="p", EVIDENCE="p", POISON="f")
    for mine in (None, family("M B5 B0", "N EVIDENCE B0")):
        document = build(run_of(rows, family=mine))
        assert line(table(document, "Pass@1 (careful reader)"), "EVIDENCE (instrument)", "main")[2] == "1.000"
        for title in set(titles(document)) & {CLAIMS, LEADS}:
            assert not any("EVIDENCE" in row[0] or "POISON" in row[0] for row in table(document, title).rows)
    assert line(table(build(run_of(rows)), "Conditions"), "POISON")[3] == "instrument"


def test_without_a_family_everything_is_exploratory() -> None:
    document = build(run_of(levels(B0="f", B5="p")))
    assert CLAIMS not in titles(document)
    assert table(document, LEADS).rows == (("B5 - B0", *("B5 passes more, at every reader level",) * 2),)
    text = as_text(document)
    assert "Nothing was registered before the run" in text
    assert "Registered family:" not in text
    groups = {r.group for s in document.sections for f in s.figures if isinstance(f, Forest) for r in f.rows}
    assert groups == {"exploratory"}


def test_falsifiers_are_measured_by_hygiene_at_each_reader_level() -> None:
    more = (
        '[[falsifier]]\nid = "F"\nclaim = "uses what governs"\n[[falsifier.bound]]\n'
        'metric = "AbstentionAccuracy_traced"\ncondition = "B5"\nat_least = 0.5\n'
        '[[falsifier]]\nid = "G"\nclaim = "no one knows"\n[[falsifier.bound]]\n'
        'metric = "Energy"\ncondition = "B5"\nat_most = 1\n'
    )
    rows = levels(B0="f", B5="p")
    panel = tuple(
        hygiene_arm(condition="B5", reader=reader, expect="abstain", outcome=outcome, trap=trap)
        for reader, outcome in (("careful", "pass"), ("credulous", "failed"))
        for trap in ("t0", "t1")
    )
    document = build(run_of(rows, family=family("M B5 B0", more=more), hygiene=panel))
    found = {reader: table(document, f"Falsifiers ({reader} reader, matched)") for reader in ("careful", "credulous")}
    assert line(found["careful"], "F")[2:6] == ("1.000", "-", "holds", "holds")
    assert line(found["credulous"], "F")[2:6] == ("0.000", "-", "fails", "fails")
    notes = "\n".join(table(document, CLAIMS).notes)
    assert "Withdrawn by a falsifier: F: uses what governs (fails, credulous reader)." in notes
    assert "G: no one knows (not measured, careful reader; not measured, credulous reader)" in notes


def test_a_published_metric_is_not_taken_for_a_traced_one() -> None:
    more = (
        '[[falsifier]]\nid = "F"\nclaim = "c"\n[[falsifier.bound]]\n'
        'metric = "AbstentionAccuracy"\ncondition = "B5"\nat_least = 0.5\n'
    )
    panel = tuple(hygiene_arm(condition="B5", expect="abstain", trap=trap) for trap in ("t0", "t1"))
    mine = family("M B5 B0", more=more)
    document = build(run_of(arms("B0", "f") + arms("B5", "p"), family=mine, hygiene=panel))
    found = table(document, "Falsifiers (careful reader, matched)")
    assert line(found, "F")[2:6] == ("-", "-", "not measured", "not measured")
    assert "AbstentionAccuracy (tracers measure AbstentionAccuracy_traced)" in found.notes[-1]


def test_warm_up_is_a_gate_and_a_conditional_rate() -> None:
    rows = arms("B0", "f") + arms("B5", "pppf")
    checks = {("B0", "t0"): (False, True), ("B5", "t0"): (True, None), ("B5", "t1"): (True, False)}
    warmed = tuple(warm(row, *checks.get((row.condition, row.trap), (True, True))) for row in rows)
    document = build(run_of(rows, family=family("M B5 B0"), warm_ups=warmed))
    gate = line(table(document, "Validity gates (careful reader, matched)"), "run", "B0 warm-up")
    assert gate[2:5] == ("0.950", ">= 0.8", "holds")  # 19 of 20 sessions
    found = table(document, "Sessions by themselves and together (careful reader)")
    assert line(found, "B0")[1:] == ("9/10", "10/10", "0/10", "0/9", "0/1", "-")
    assert line(found, "B5")[1:] == ("10/10", "8/9", "6/10", "4/8", "1/1", "1/1")
    cold = build(run_of(rows, family=family("M B5 B0")))
    assert any("B0 warm-up (careful reader) was not measured" in note for note in table(cold, CLAIMS).notes)


def test_outcomes_sum_to_the_plan_and_cells_to_counted_and_excluded() -> None:
    rows = arms("B0", "fiff") + arms("B5", "p", traps=4)
    document = build(run_of(rows, planned={"B0": 10, "B5": 10, "Y": 10}))
    found = table(document, "Outcomes of arms (careful reader)")
    assert line(found, "B0") == ("B0", "0", "0", "8", "2", "0", "0", "10", "2")
    assert line(found, "B5") == ("B5", "5", "0", "0", "0", "0", "5", "10", "5")
    assert line(found, "Y") == ("Y", "0", "0", "0", "0", "0", "10", "10", "10")
    assert line(found, "all")[7] == "30"
    cells = table(document, "Outcomes of cells (careful reader)")
    assert line(cells, "B0", "matched")[2:] == ("0", "0", "6", "2", "0", "8", "6", "2")
    assert line(table(document, "Causes of arms that did not pass (careful reader)"), "B0", "failed")[3] == "8"
    assert "The run is not complete (15 outcomes of arms are missing)" in document.paragraphs[1]


def test_rows_outside_the_plan_are_refused() -> None:
    with pytest.raises(RecordError, match="10 records for a plan of 9"):
        build(run_of(arms("B0", "f"), planned={"B0": 9}))
    with pytest.raises(RecordError, match="conditions outside the plan: B5"):
        build(run_of(arms("B5", "f"), planned={"B0": 10}))


def test_what_a_family_registers_of_the_size_holds_for_a_complete_run() -> None:
    mine = family("M B5 B0").model_copy(update={"traps": 9, "seeds": (1, 2)})
    rows = arms("B0", "f") + arms("B5", "p")
    with pytest.raises(RecordError, match="registers 9 traps"):
        build(run_of(rows, family=mine))
    assert CLAIMS in titles(build(run_of(rows, family=mine, planned={"B0": 10, "B5": 18})))


def test_the_heat_map_says_every_seed_and_names_its_arms() -> None:
    rows = arms("B0", "f", seeds=3) + arms("B5", "p", seeds=3)
    kinds = {1: "trapped", 2: "invalid", 3: "failed"}
    rows = [replace(r, outcome=kinds[r.seed]) if (r.trap, r.condition) == ("t3", "B5") else r for r in rows]
    document = build(run_of(rows, planned={"B0": 30, "B5": 30, "Y": 30}))
    (found,) = [f for s in document.sections for f in s.figures if isinstance(f, HeatMap)]
    assert found.columns == ("B0", "B5", "Y")
    assert (found.rows[0], found.groups[0], found.rows[-1], found.groups[-1]) == ("t0", "C1", "t7", "C10")
    cells = found.cells[found.rows.index("t3")]
    assert [cell.text for cell in cells] == ["failed 3", "trapped 1, failed 1, invalid 1", "-"]
    assert [cell.share for cell in cells] == [0.0, 0.0, None]
    assert cells[1].arms[:3] == ("t3/B5/1/absent", "t3/B5/1/given", "t3/B5/2/absent")
    assert found.cells[0][1].text == "3/3"


def test_removed_traps_are_in_the_counts_and_in_no_rate() -> None:
    rows = arms("B0", "f") + arms("B5", "p")
    document = build(run_of(rows, traps={"t0": TrapInfo(construct="C1", removed=True)}))
    assert line(table(document, "Pass@1 (careful reader)"), "B5", "matched")[5] == "7/7"
    assert line(table(document, "Outcomes of arms (careful reader)"), "B5")[1] == "10"
    assert line(table(document, "The run"), "traps removed later (in no rate)")[1] == "t0"


def test_the_reference_agent_is_memory_delivery() -> None:
    rows = levels(B0="f", B5="p")
    assert build(run_of(rows)).paragraphs[0].startswith("These numbers are memory delivery (deterministic reference")
    other = as_text(build(run_of([replace(r, reader="") for r in rows[:10]], agent="codex 1")))
    assert "memory delivery" not in other.lower()
    assert "results of the agent codex 1" in other


def test_an_empty_run_still_says_what_is_planned() -> None:
    document = build(run_of([], planned={"B0": 10}))
    assert "No arm of this run has a record yet." in document.paragraphs
    assert line(table(document, "Outcomes of arms"), "B0") == ("B0", *("0",) * 5, "10", "10", "10")
    assert as_text(brief(document)).count("\n") < 20


def test_brief_is_the_headline_and_the_outcomes() -> None:
    document = build(run_of(levels(B0="f", B5="p"), family=family("M B5 B0")))
    found = titles(brief(document))
    assert found[:3] == ["Pass@1 (careful reader)", "Pass@1 (credulous reader)", CLAIMS]
    assert found[3:] == ["Outcomes of arms (careful reader)", "Outcomes of arms (credulous reader)"]
    assert as_text(brief(document)).count("\n") < 60


def test_no_word_calls_what_does_not_separate_equal() -> None:
    document = build(run_of(levels(B0="f", B5="p", RAG="f"), family=family("M RAG B0")))
    for text in (as_text(document), as_markdown(document)):
        assert not re.search(r"\b(equal|no difference|identical|same as|proves|significant)\b", text, re.I)


def test_a_report_is_a_pure_function_of_its_data() -> None:
    data = run_of(levels(B0="f", B5="p"), family=family("M B5 B0"))
    assert as_markdown(build(data)) == as_markdown(build(data))
