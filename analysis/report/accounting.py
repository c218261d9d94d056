"""Where every planned arm went: outcomes, exclusions and causes.

Invariant: outcomes and the arms not run sum to the plan; the cells of an endpoint sum to its counted and excluded ones.
"""

from __future__ import annotations

from collections import Counter

from analysis.rates import causes
from analysis.records import COUNTED, OUTCOMES, Endpoint
from analysis.report.findings import Findings, titled
from analysis.report.layout import NONE, Section, Table

ACCOUNTING = "Exclusions and outcomes"
ARMS = "Outcomes of arms"
_SAYS = (
    "Every planned arm is in the first table, and every cell that has an arm in the second: its outcomes sum to the "
    "plan. Invalid and unavailable cells are excluded from every rate; agents that broke down count as failed. Owed: "
    "invalid or not run, which a rerun fills. Traps removed later are in these tables and in no rate."
)


def accounting_section(found: Findings) -> Section:
    """Outcomes of arms first (a table a reader level), then cells, then causes."""
    tables = [_arms(found, reader) for reader in found.readers]
    tables += [_cells(found, reader) for reader in found.readers]
    tables += [_causes(found, reader) for reader in found.readers]
    return Section(ACCOUNTING, (_SAYS,), tuple(table for table in tables if table.rows))


def _arms(found: Findings, reader: str) -> Table:
    lines = []
    for name in found.conditions:
        seen = found.tallies[reader, name]
        counts = [seen.counts[outcome] for outcome in OUTCOMES]
        lines.append((found.label(name), [*counts, seen.not_run, seen.planned, seen.owed]))
    if lines:
        lines.append(("all", [sum(column) for column in zip(*(counts for _, counts in lines), strict=True)]))
    rows = tuple((label, *(str(count) for count in counts)) for label, counts in lines)
    return Table(titled(ARMS, reader), ("condition", *OUTCOMES, "not run", "planned", "owed"), rows)


def _cells(found: Findings, reader: str) -> Table:
    rows = []
    seen: dict[tuple[str, Endpoint], Counter[str]] = {}
    for endpoint in found.endpoints:
        for cell in found.cells[endpoint]:
            if cell.reader == reader:
                seen.setdefault((cell.condition, endpoint), Counter())[cell.outcome] += 1
    for name in found.conditions:
        for endpoint in found.endpoints:
            counts = seen.get((name, endpoint), Counter())
            counted = sum(counts[outcome] for outcome in COUNTED)
            numbers = (*(counts[outcome] for outcome in OUTCOMES), counts.total(), counted, counts.total() - counted)
            rows.append((found.label(name), endpoint, *(str(number) for number in numbers)))
    header = ("condition", "endpoint", *OUTCOMES, "cells", "counted", "excluded")
    return Table(titled("Outcomes of cells", reader), header, tuple(rows))


def _causes(found: Findings, reader: str) -> Table:
    rows = []
    for name in found.conditions:
        mine = [row for row in found.rows if (row.reader, row.condition) == (reader, name)]
        rows += [
            (found.label(name), outcome, cause or NONE, str(count)) for (outcome, cause), count in causes(mine).items()
        ]
    header = ("condition", "outcome", "cause", "arms")
    return Table(titled("Causes of arms that did not pass", reader), header, tuple(rows))
