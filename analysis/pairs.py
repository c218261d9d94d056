"""Pairing: which cells of two conditions count on both sides, by trap and seed.

Invariant: the one place where cells are paired for the sensitivities; what is left out is what the clustered test
leaves out too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.records import COUNTED, CellRecord, RecordError, check_cells

Key = tuple[str, int]  # trap, seed
Pair = tuple[bool, bool]  # the first passed, the second passed


def paired(first: Sequence[CellRecord], second: Sequence[CellRecord]) -> Mapping[Key, Pair]:
    """Outcomes of the cells that count on both sides, sorted by trap and seed.

    An empty side gives no pair. Raises RecordError: doubled rows, several conditions or reader levels on a side.
    """
    a, b = _counted(first), _counted(second)
    return {key: (a[key], b[key]) for key in sorted(set(a) & set(b))}


def by_trap(pairs: Mapping[Key, Pair]) -> Mapping[str, list[Pair]]:
    """The pairs of every trap that has one."""
    found: dict[str, list[Pair]] = {}
    for (trap, _), pair in pairs.items():
        found.setdefault(trap, []).append(pair)
    return found


def _counted(cells: Sequence[CellRecord]) -> dict[Key, bool]:
    check_cells(cells)
    names = sorted({(cell.condition, cell.reader) for cell in cells})
    if len(names) > 1:
        raise RecordError(None, f"one condition and reader level expected, got {names}")
    return {(cell.trap, cell.seed): cell.outcome == "pass" for cell in cells if cell.outcome in COUNTED}
