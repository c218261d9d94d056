"""The whole report on a run as a document, by pure functions from what the run left.

Invariant: sections stand in one order and each can be read alone; every number comes from `Findings` or from the
modules of `analysis`, and none from a renderer.
"""

from __future__ import annotations

from dataclasses import replace

from analysis.report.accounting import ACCOUNTING, ARMS, accounting_section
from analysis.report.constructs import construct_section
from analysis.report.findings import Findings, find
from analysis.report.headline import HEADLINE, caveats, headline_section
from analysis.report.heat import heat_section
from analysis.report.layout import Document, Section
from analysis.report.memory import funnel_section, hygiene_section, inert_section
from analysis.report.money import money_section
from analysis.report.registered import registered_section
from analysis.report.run_facts import run_section
from analysis.report.sensitivities import sensitivity_section
from analysis.report.source import RunData
from analysis.report.warm import warm_section


def build(data: RunData) -> Document:
    """The document of one run.

    Raises RecordError: rows that are bad, doubled, more than planned, or of conditions outside the plan, or that do
    not have the traps and seeds which the family registers (once the run is complete); FamilyError: a slot that is
    registered as unavailable and has cells.
    """
    found = find(data)
    if not found.rows:
        sections = (run_section(found), accounting_section(found))
        return Document(data.title, (*caveats(found), "No arm of this run has a record yet."), sections)
    return Document(data.title, tuple(caveats(found)), _sections(found))


def brief(document: Document) -> Document:
    """The headline with its claims, and the outcomes of arms: about one screen."""
    kept = []
    for section in document.sections:
        if section.title == HEADLINE:
            kept.append(section)
        elif section.title == ACCOUNTING:
            arms = tuple(table for table in section.tables if table.title.startswith(ARMS))
            kept.append(replace(section, paragraphs=(), tables=arms))
    return replace(document, sections=tuple(kept))


def _sections(found: Findings) -> tuple[Section, ...]:
    data = found.data
    return (
        headline_section(found),
        run_section(found),
        registered_section(found),
        heat_section(found),
        funnel_section(data.facts),
        construct_section(found),
        hygiene_section(data.hygiene, found.measured),
        inert_section(data.parts),
        warm_section(found),
        money_section(found),
        accounting_section(found),
        sensitivity_section(found),
    )
