"""The other ways to look at the contrasts, and those that nobody registered. Nothing here is a headline.

Invariant: registered and exploratory contrasts stand in separate tables, and each table says which it is.
"""

from __future__ import annotations

from dataclasses import replace

from analysis.inference_tables import exploratory_table, majority_table, mcnemar_table, slices_table
from analysis.records import Endpoint
from analysis.report.findings import Findings, titled
from analysis.report.layout import Section, Table

SENSITIVITIES = "Sensitivities and exploratory contrasts"
_SAYS = (
    "None of this is a headline. McNemar takes the seeds of a trap as independent and over-rejects; the majority of "
    "seeds throws away what is mixed; slices are parts of the same data and are not adjusted; the published exclusion "
    "rule leaves agents out that broke down, between a best and a worst case. A comparison that is not registered is "
    "exploratory: its p stands by itself and claims nothing."
)


def sensitivity_section(found: Findings) -> Section:
    """Tables at every reader level and endpoint."""
    tables = [table for reader in found.readers for endpoint in found.endpoints
              for table in _tables(found, reader, endpoint)]  # fmt: skip
    return Section(SENSITIVITIES, (_SAYS,), tuple(table for table in tables if table.rows))


def _tables(found: Findings, reader: str, endpoint: Endpoint) -> list[Table]:
    slots = found.slots(reader, endpoint)
    extra = found.readings[reader, endpoint].exploratory
    tables = []
    if slots:
        tables += [mcnemar_table(slots), majority_table(slots)]
        tables += [slices_table(slot) for slot in slots if slot.sensitivities and (slot.primary or len(slots) == 1)]
    if extra:
        tables += [exploratory_table(extra), mcnemar_table(extra, "exploratory"), majority_table(extra, "exploratory")]
    return [replace(table, title=titled(table.title, reader, endpoint)) for table in tables]
