"""The report's sections on memories: their cells are the counts, like metrics share a table, idle parts are named."""

from __future__ import annotations

import re

from analysis.funnel import FactRow, Fate
from analysis.inert import Part
from analysis.report.layout import Document, Section, Table, as_markdown, as_text
from analysis.report.memory import funnel_section, hygiene_section, inert_section, measured

from ..test_hygiene import arm, fate

FACTS = [
    FactRow("t", "C3", "X", reader, Fate(name, role, stage, lost))  # type: ignore[arg-type]
    for reader in ("careful", "credulous")
    for name, role, stage, lost in (
        ("new", "governing", "used", ""),
        ("rule", "rule", "alive", "score: 0.3 is below 1"),
        ("old", "superseded", "written", "superseded after sleep"),
    )
]


def sections() -> dict[str, Section]:
    rows = [
        arm(condition=condition, reader=reader, fates=(fate("governing"),), shown=("useful",), trap=trap)
        for condition in ("X", "Y")
        for reader in ("careful", "credulous")
        for trap in ("t", "u")
    ]
    parts = [Part("X", "operator", "repair", 3), Part("X", "operator", "replay", 0), Part("X", "gate", "risk", 0)]
    found = (funnel_section(FACTS), hygiene_section(rows, measured(rows)), inert_section(parts))
    return {section.title: section for section in found}


def table(section: str, title: str) -> Table:
    (found,) = [t for t in sections()[section].printed if t.title == title]
    return found


def test_a_funnel_line_sums_to_the_facts_injected() -> None:
    ended = table("Fact funnel", "Where facts that govern ended (careful reader)")
    assert ended.rows == (("X", "0", "0", "1", "0", "1"),)
    for reader in ("careful", "credulous"):
        avoid = table("Fact funnel", f"Facts that must not be used, by construct ({reader} reader)")
        line = ("X", "1", "0", "1", "0", "0", "0", "0", "0")
        assert avoid.rows == (("all", *line), ("C3", *line))
    for found in sections()["Fact funnel"].tables:
        if "injected" in found.header:
            for numbers in (list(map(int, row[2:])) for row in found.rows):
                assert numbers[0] == sum(numbers[1:6])


def test_the_bars_are_the_counts_over_all_constructs() -> None:
    section = sections()["Fact funnel"]
    totals = [t for t in section.tables if "injected" in t.header]
    for figure, whole in zip(section.figures, totals, strict=True):
        assert [row[1:] for row in figure.table().rows] == [row[3:8] for row in whole.rows if row[0] == "all"]


def test_causes_stand_by_condition_and_kind() -> None:
    assert table("Fact funnel", "Why facts went no further (careful reader)").rows == (
        ("X", "facts that govern", "alive", "score", "1"),
        ("X", "facts that must not be used", "written", "superseded after sleep", "1"),
    )


def test_like_metrics_share_a_table_and_the_others_are_named() -> None:
    section = sections()["Hygiene (from tracers)"]
    titles = [t.title for t in section.tables]
    assert "UsefulMemoryPrecision_traced = UsefulMemoryRecall_traced" in titles
    assert "HumanFeedbackUseAccuracy_traced = TransferScore_traced" in titles
    assert "StaleUseRate_traced" in section.paragraphs[1]
    shared = table("Hygiene (from tracers)", "UsefulMemoryPrecision_traced = UsefulMemoryRecall_traced")
    assert shared.rows == (("X", "1.000", "[1.000, 1.000]", "2/2"), ("Y", "1.000", "[1.000, 1.000]", "2/2"))
    assert len(shared.notes) == 2


def test_idle_parts_are_named() -> None:
    found = table("Operators and gates that were inert", "Inert parts")
    assert found.rows == (("X", "operators", "1 of 2", "replay"), ("X", "gates", "1 of 1", "risk"))


def test_nothing_to_say_is_one_sentence() -> None:
    for section in (funnel_section([]), hygiene_section([], measured([])), inert_section([])):
        assert section.printed == ()
        assert len(section.paragraphs) == 1


def test_both_renderings_hold_and_claim_nothing() -> None:
    document = Document("D", (), tuple(sections().values()))
    for text in (as_text(document), as_markdown(document)):
        assert "Fact funnel" in text
        assert not re.search(r"\b(equal|no difference|identical|better than)\b", text, re.I)
