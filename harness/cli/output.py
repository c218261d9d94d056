"""From the ledger's records to the rows of the analysis, and its tables; shared by `run`, `status` and `report`."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.records import ArmRow
from analysis.report.tables import REFERENCE, markdown_report, text_report
from harness.agents.reference import ReferenceAgent
from harness.ledger import Ledger
from harness.outcome import Outcome
from harness.records import ArmRecord
from harness.rundir import RunDir


def committed(folder: RunDir) -> list[ArmRecord]:
    """The newest record of every arm; none while the run has no ledger yet."""
    if not folder.ledger.exists():
        return []
    with Ledger(folder.ledger, read_only=True) as ledger:
        return list(ledger.arms())


def rows(records: Sequence[ArmRecord]) -> list[ArmRow]:
    """One row an arm and reader level."""
    return [
        ArmRow(
            trap=r.trap,
            construct=r.construct_,
            condition=r.condition,
            seed=r.seed,
            history=r.history,
            main=r.main,
            reader="" if e.reader == "-" else e.reader,
            outcome=e.outcome.value,
            cause=e.cause,
        )
        for r in records
        for e in r.endings
    ]


def outcome_counts(records: Sequence[ArmRecord], arms: int, readers: int) -> dict[str, int]:
    """Endings by outcome, and `owed`; they sum to `planned` = arms x reader levels."""
    counts = {o.value: 0 for o in Outcome}
    for record in records:
        for ending in record.endings:
            counts[ending.outcome.value] += 1
    return {"planned": arms * readers, **counts, "owed": arms * readers - sum(counts.values())}


def summary_text(folder: RunDir, records: Sequence[ArmRecord]) -> tuple[str, str]:
    """(plain text, Markdown) of a run's report."""
    stored = folder.description()
    found = rows(records)
    planned = stored.arms_by_condition
    agent = REFERENCE if stored.agent == ReferenceAgent.card else stored.agent
    return text_report(found, planned=planned, agent=agent), markdown_report(found, planned=planned, agent=agent)
