"""The heat map: every trap by every condition, with the arms behind each cell.

Invariant: a cell's text says every seed of it, the counted and the others, and its arms are all arms of that trap and
condition in the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.gates import construct_order
from analysis.records import COUNTED, OUTCOMES, ArmRow, CellRecord
from analysis.report.figures import HeatCell, HeatMap
from analysis.report.findings import Findings, titled
from analysis.report.layout import NONE, Section

HEAT = "Trap by condition"
_SAYS = (
    "Seeds passed of seeds counted at the matched endpoint (all histories of the trap right), and what the others "
    "were. Traps stand by construct. A row that is the same everywhere tells conditions apart by nothing."
)


def heat_section(found: Findings) -> Section:
    """One map a reader level."""
    return Section(HEAT, (_SAYS,), figures=tuple(_map(found, reader) for reader in found.readers))


def arm_name(row: ArmRow) -> str:
    """trap/CONDITION/seed/history."""
    return f"{row.trap}/{row.condition}/{row.seed}/{row.history}"


def _map(found: Findings, reader: str) -> HeatMap:
    cells: dict[tuple[str, str], list[CellRecord]] = {}
    for cell in found.cells["matched"]:
        if cell.reader == reader:
            cells.setdefault((cell.trap, cell.condition), []).append(cell)
    arms: dict[tuple[str, str], list[ArmRow]] = {}
    for row in found.rows:
        if row.reader == reader:
            arms.setdefault((row.trap, row.condition), []).append(row)
    traps = sorted(found.traps, key=lambda trap: (construct_order(found.traps[trap].construct), trap))
    return HeatMap(
        titled("Seeds passed", reader, "matched"),
        "The stronger the colour, the larger the share of seeds passed.",
        "trap",
        tuple(f"{trap} (removed later)" if found.traps[trap].removed else trap for trap in traps),
        tuple(found.traps[trap].construct for trap in traps),
        tuple(found.label(name) for name in found.conditions),
        tuple(
            tuple(_cell(cells.get((trap, name), ()), arms.get((trap, name), ())) for name in found.conditions)
            for trap in traps
        ),
    )


def _cell(cells: Sequence[CellRecord], arms: Sequence[ArmRow]) -> HeatCell:
    seen = Counter(cell.outcome for cell in cells)
    counted = sum(seen[outcome] for outcome in COUNTED)
    others = [f"{outcome} {seen[outcome]}" for outcome in OUTCOMES if outcome != "pass" and seen[outcome]]
    passed = [f"{seen['pass']}/{counted}"] if seen["pass"] else []
    names = tuple(arm_name(arm) for arm in sorted(arms, key=lambda a: (a.seed, not a.main, a.history)))
    return HeatCell(seen["pass"] / counted if counted else None, ", ".join([*passed, *others]) or NONE, names)
