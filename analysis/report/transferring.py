"""Several runs as one document: who wrote the memory by who used it, cell by cell.

Invariant: a cell that cannot be read says why in place of a value; no number here is of more than one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.records import Endpoint
from analysis.report.layout import NONE, Document, Section, Table
from analysis.report.numbers import interval, p_value, ratio, share
from analysis.transfer import Cell, Line, Registered, Transfer, Warmth

_SAYS = (
    "A column is a wake agent: who worked in the sessions. A row is a condition, with who wrote what its memory holds. "
    "Every cell is one run, a separate plan with its own tests: nothing is pooled, and cells of different columns are "
    "not tested against each other here (dreambench compare does that for two runs)."
)
_CELL = (
    "Passed of counted cells, the rate with its exact 95 % interval (Clopper-Pearson, cells as independent), cells "
    "that do not count, and each contrast that the run's family registers with this condition as the first: p of the "
    "exact trap-clustered test, and Holm's. Where S1 and S2 pass too rarely, S3 does not show what a memory did, and "
    "no value is given."
)


@dataclass(frozen=True)
class RunTold:
    """What is said of one run."""

    name: str
    told: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Setting:
    """What was set side by side. `notes` are plain sentences of whoever read the runs."""

    runs: tuple[RunTold, ...]
    notes: tuple[str, ...] = ()


def document(setting: Setting, found: Transfer) -> Document:
    """The whole comparison."""
    sections = [_runs(setting), _warm(found.warmths)]
    sections += [_table(found, endpoint) for endpoint in found.endpoints]
    sections += [section for endpoint in found.endpoints if (section := _contrasts(found, endpoint)).tables]
    return Document("Author of the memory by wake agent", (_SAYS, *setting.notes), tuple(sections))


def _runs(setting: Setting) -> Section:
    names = list(dict.fromkeys(name for run in setting.runs for name, _ in run.told))
    sides = [dict(run.told) for run in setting.runs]
    rows = tuple((name, *(side.get(name, NONE) for side in sides)) for name in names)
    return Section("The runs", tables=(Table("The runs", ("", *(run.name for run in setting.runs)), rows),))


def _warm(warmths: Sequence[Warmth]) -> Section:
    rows = tuple(
        (w.run, w.column, w.condition, ratio(w.s1), ratio(w.s2), share(w.together.value), f">= {float(w.bound):g}",
         w.why or "holds")
        for w in warmths
    )  # fmt: skip
    says = (
        "Public checks of S1 and S2, passed of run. A cell can be read if both together reach the bound in its own "
        "condition and in the baseline of its run. The bound is that of the registered family, or .9."
    )
    header = ("run", "wake agent", "condition", "S1", "S2", "together", "bound", "status")
    return Section("Warm-up", (says,), (Table("Warm-up by cell", header, rows),))


def _table(found: Transfer, endpoint: Endpoint) -> Section:
    rows = tuple(
        (line.condition, _author(line), *(_cell(cell) for cell in line.cells))
        for line in found.lines
        if line.endpoint == endpoint
    )
    table = Table(f"Author by wake agent ({endpoint})", ("condition", "memory written by", *found.columns), rows)
    return Section(f"Author by wake agent: {endpoint}", (_CELL,), (table,))


def _author(line: Line) -> str:
    return line.author if line.nth == 1 else f"{line.author} (run {line.nth} of this agent)"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return NONE
    left = f", {cell.excluded} excluded" if cell.excluded else ""
    if cell.why:
        return cell.why + left
    if cell.rate is None or not cell.rate.counted:
        return f"no counted cell{left}"
    value = f"{ratio(cell.rate)} = {share(cell.rate.value)} {interval(cell.exact)}{left}"
    tests = [f"{c.id} p {p_value(c.p)}, Holm {p_value(c.holm)}" for c in cell.contrasts]
    return "; ".join([value, *tests])


def _contrast(first: str, column: str, run: str, c: Registered) -> tuple[str, ...]:
    return c.id, f"{first} - {c.second}", column, run, p_value(c.p), p_value(c.holm), c.verdict


def _contrasts(found: Transfer, endpoint: Endpoint) -> Section:
    rows = []
    for line in found.lines:
        if line.endpoint == endpoint:
            for column, cell in zip(found.columns, line.cells, strict=True):
                if cell is not None:
                    rows += [_contrast(line.condition, column, cell.run, c) for c in cell.contrasts]
    header = ("id", "contrast", "wake agent", "run", "p", "Holm p", "reading")
    says = "As each run's own report has them. A contrast is left out where the warm-up of one of its sides fails."
    tables = (Table(f"Registered contrasts ({endpoint})", header, tuple(sorted(rows))),) if rows else ()
    return Section(f"Registered contrasts: {endpoint}", (says,), tables)
