"""Totals from journal entries, as rows, as a table, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from tempo.journal import Entry
from tempo.model import Outcome

COLUMNS = ("name", "runs", "ok", "failed", "retries", "seconds")
GROUPINGS = ("job", "lane")
UNNAMED = "-"


@dataclass(frozen=True)
class Row:
    """`retries` counts attempts beyond the first of each run."""

    name: str
    runs: int
    ok: int
    failed: int
    retries: int
    seconds: float


def summarise(entries: Iterable[Entry], by: str = GROUPINGS[0]) -> list[Row]:
    """One row for each value of the field `by` (one of GROUPINGS), ordered by it."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(getattr(entry, by) or UNNAMED, []).append(entry)
    return [_row(name, groups[name]) for name in sorted(groups)]


def _row(name: str, entries: Sequence[Entry]) -> Row:
    ok = sum(entry.outcome is Outcome.OK for entry in entries)
    return Row(
        name=name,
        runs=len(entries),
        ok=ok,
        failed=len(entries) - ok,
        retries=sum(entry.attempts - 1 for entry in entries),
        seconds=round(sum(entry.seconds for entry in entries), 3),
    )


def as_table(rows: Sequence[Row]) -> str:
    """Columns padded to their widest cell; text to the left, numbers to the right."""
    cells = [COLUMNS, *(tuple(str(getattr(row, column)) for column in COLUMNS) for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(COLUMNS))]
    return "\n".join(_line(line, widths) for line in cells)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    padded = [
        name.ljust(widths[0]),
        *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)),
    ]
    return "  ".join(padded).rstrip()


def as_json(rows: Sequence[Row]) -> str:
    return json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False)
