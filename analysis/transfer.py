"""Several runs that differ in who wrote the memory and who used it: one cell for each, never pooled.

A column is a wake agent (at a reader level, where it has some), a row a condition with the author of its memory. What
a cell says comes from one run and its own plan. Invariant: a cell whose warm-up is below the bound, or was not
measured, shows no value, and neither does a contrast that needs it; nothing is added up over columns or rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from analysis.intervals import Interval, clopper_pearson
from analysis.rates import Rate
from analysis.records import COUNTED, Endpoint
from analysis.report.findings import Findings, find, where
from analysis.report.source import RunData
from analysis.warmups import conditional

WARM_UP = Fraction(9, 10)  # of S1 and S2 that pass, for runs that registered no bound of their own
BELOW = "not interpretable: warm-up"
UNMEASURED = "not interpretable: warm-up not measured"


@dataclass(frozen=True)
class Run:
    """One run. `wake` names the agent and model of its sessions, `authors` who wrote the memory of each condition."""

    name: str
    wake: str
    authors: Mapping[str, str]
    data: RunData


@dataclass(frozen=True)
class Warmth:
    """Public checks of S1 and S2 of one condition in one run; `bound` is what both together have to reach."""

    run: str
    column: str
    condition: str
    s1: Rate
    s2: Rate
    bound: Fraction

    @property
    def together(self) -> Rate:
        return Rate(self.s1.passed + self.s2.passed, self.s1.counted + self.s2.counted)

    @property
    def why(self) -> str:
        """Why S3 cannot be read, or ""."""
        found = self.together
        if not found.counted:
            return UNMEASURED
        return BELOW if Fraction(found.passed, found.counted) < self.bound else ""


@dataclass(frozen=True)
class Registered:
    """A contrast of the plan's family in which the cell's condition is the first; p and Holm p are exact."""

    id: str
    second: str
    p: Fraction
    holm: Fraction | None
    verdict: str


@dataclass(frozen=True)
class Cell:
    """One condition in one run. `rate` and what follows from it are None where `why` says that it cannot be read.

    `exact` takes cells as independent; `clustered` draws whole traps. `excluded` cells do not count.
    """

    run: str
    why: str
    excluded: int
    rate: Rate | None = None
    exact: Interval | None = None
    clustered: Interval | None = None
    contrasts: tuple[Registered, ...] = ()


@dataclass(frozen=True)
class Line:
    """A row at one endpoint: a cell for each column, None where no run has it.

    `nth` counts the runs of one wake agent that hold the same condition by the same author: 1, 2, ...
    """

    endpoint: Endpoint
    condition: str
    author: str
    nth: int
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Transfer:
    """Everything, with the primary endpoint first."""

    endpoints: tuple[Endpoint, ...]
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    warmths: tuple[Warmth, ...]


@dataclass(frozen=True)
class _Column:
    """A run at one reader level, reckoned."""

    run: Run
    found: Findings
    reader: str

    @property
    def name(self) -> str:
        level = where(self.reader)
        return f"{self.run.wake}, {level}" if level else self.run.wake

    @property
    def bound(self) -> Fraction:
        family = self.found.data.family
        return Fraction(str(family.gates.warmup)) if family else WARM_UP

    def warmth(self, condition: str) -> Warmth:
        mine = [w for w in self.found.data.warm_ups if (w.condition, w.reader) == (condition, self.reader)]
        split = conditional(mine)
        return Warmth(self.run.name, self.name, condition, split.s1, split.s2, self.bound)

    def why(self, condition: str) -> str:
        """The condition's own warm-up has to hold, and that of the baseline, which no memory can touch."""
        baseline = self.found.family.gates.baseline
        looked = dict.fromkeys([baseline, condition] if baseline in self.found.conditions else [condition])
        return next((f"{why} ({name})" for name in looked if (why := self.warmth(name).why)), "")


def transfer(runs: Sequence[Run]) -> Transfer:
    """Set the runs side by side. Raises RecordError, FamilyError for rows that do not fit their plan."""
    columns = [_Column(run, found, reader) for run in runs for found in [find(run.data)] for reader in found.readers]
    names = tuple(dict.fromkeys(column.name for column in columns))
    endpoints = columns[0].found.endpoints if columns else ()
    conditions = dict.fromkeys(name for column in columns for name in column.found.conditions)
    lines = []
    for endpoint in endpoints:
        for condition in conditions:
            lines += _lines(endpoint, condition, columns, names)
    warmths = tuple(column.warmth(name) for column in columns for name in column.found.conditions)
    return Transfer(endpoints, names, tuple(lines), warmths)


def _lines(endpoint: Endpoint, condition: str, columns: Sequence[_Column], names: Sequence[str]) -> list[Line]:
    found: dict[tuple[str, int], dict[str, Cell]] = {}
    for column in columns:
        if condition in column.found.conditions:
            author, nth = column.run.authors[condition], 1
            while column.name in found.get((author, nth), {}):
                nth += 1
            found.setdefault((author, nth), {})[column.name] = _cell(endpoint, condition, column)
    return [
        Line(endpoint, condition, author, nth, tuple(cells.get(name) for name in names))
        for (author, nth), cells in found.items()
    ]


def _cell(endpoint: Endpoint, condition: str, column: _Column) -> Cell:
    found, reader = column.found, column.reader
    mine = [c for c in found.cells[endpoint] if (c.condition, c.reader) == (condition, reader)]
    kept = [c for c in mine if not found.traps[c.trap].removed]
    excluded = sum(1 for cell in kept if cell.outcome not in COUNTED)
    if why := column.why(condition):
        return Cell(column.run.name, why, excluded)
    rates = found.rates(reader, endpoint, condition)
    rate = rates.rate if rates else Rate(0, 0)
    return Cell(
        run=column.run.name,
        why="",
        excluded=excluded,
        rate=rate,
        exact=clopper_pearson(rate.passed, rate.counted),
        clustered=rates.clustered if rates else None,
        contrasts=_contrasts(endpoint, condition, column),
    )


def _contrasts(endpoint: Endpoint, condition: str, column: _Column) -> tuple[Registered, ...]:
    """Those that can be read: the other side is warm, too."""
    if not column.found.registered:
        return ()
    return tuple(
        Registered(slot.id, slot.second, slot.p, slot.holm, slot.verdict)
        for slot in column.found.slots(column.reader, endpoint)
        if slot.first == condition and not column.why(slot.second)
    )
