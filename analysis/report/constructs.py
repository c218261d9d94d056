"""Pass rates by construct, and which constructs may support a claim.

Invariant: a construct without headroom, without a spread between conditions, or whose poison does no harm says so.
"""

from __future__ import annotations

from dataclasses import replace

from analysis.inference_tables import strata_table
from analysis.report.findings import Findings, titled
from analysis.report.layout import Section

CONSTRUCTS = "Constructs"


def construct_section(found: Findings) -> Section:
    """One table a reader level and endpoint."""
    gates = found.family.gates
    says = (
        "Passed of counted cells by construct. A stratum counts if its best condition reaches "
        f"{gates.stratum_best:g}, conditions differ, {gates.baseline} passes at most {gates.headroom:g} (matched) and "
        f"{gates.poison} at most {gates.poison_max:g} where a trap has something that must not be used; the last "
        "column says what is missing. A stratum that does not count supports no claim by itself."
    )
    tables = []
    for reader in found.readers:
        for endpoint in found.endpoints:
            table = strata_table(found.readings[reader, endpoint], found.label)
            tables.append(replace(table, title=titled(table.title, reader, endpoint)))
    return Section(CONSTRUCTS, (says,), tuple(tables))
