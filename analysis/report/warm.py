"""S3 beside the public checks of S1 and S2: is what goes wrong hidden by sessions that each look right?

Invariant: the three columns that split S3 sum to S3.
"""

from __future__ import annotations

from analysis.report.findings import Findings, titled
from analysis.report.layout import Section, Table
from analysis.report.numbers import ratio
from analysis.warmups import conditional

WARM = "S3 given that S1 and S2 passed"
_SAYS = (
    "Passed of counted, over arms (all histories, so S3 here is not Pass@1 of cells). S1 and S2: their public checks. "
    "The three last columns split the arms of S3. Where S1 and S2 pass and S3 does not, single-session success hides "
    "the failure."
)


def warm_section(found: Findings) -> Section:
    """One table a reader level."""
    if not found.data.warm_ups:
        return Section(WARM, ("No public check of S1 or S2 was recorded in this run.",))
    return Section(WARM, (_SAYS,), tuple(_table(found, reader) for reader in found.readers))


def _table(found: Findings, reader: str) -> Table:
    rows = []
    for name in found.conditions:
        mine = [row for row in found.data.warm_ups if (row.condition, row.reader) == (name, reader)]
        split = conditional(mine)
        rates = (split.s1, split.s2, split.s3, split.both_passed, split.one_failed, split.not_known)
        rows.append((found.label(name), *(ratio(rate) for rate in rates)))
    header = ("condition", "S1", "S2", "S3", "S3, S1 and S2 passed", "S3, one failed", "S3, not known")
    return Table(titled("Sessions by themselves and together", reader), header, tuple(rows))
