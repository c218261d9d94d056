"""Figures as data: what is drawn, its labels, and the same numbers as a table for those who cannot see the drawing.

Invariant: a figure holds every number that its drawing shows, computed before; its table says all that the drawing
says; a value that was not measured is None and is drawn as a gap with a label, never as 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.report.layout import NONE, Table


@dataclass(frozen=True)
class ForestRow:
    """One comparison: the share of paired cells by which the first condition leads (-1..1), with its interval."""

    label: str
    group: str  # "registered" or "exploratory"
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""  # p and verdict, in words
    primary: bool = False


@dataclass(frozen=True)
class Forest:
    """Intervals around a line at 0. `left` and `right` say in words what the sides mean."""

    title: str
    says: str
    axis: str
    left: str
    right: str
    rows: tuple[ForestRow, ...]

    def table(self) -> Table:
        rows = tuple((r.label, r.group, _signed(r.value), _between(r.low, r.high), r.note or NONE) for r in self.rows)
        return Table(self.title, ("comparison", "kind", self.axis, "95 %", "reading"), rows)


@dataclass(frozen=True)
class HeatCell:
    """Share of seeds that passed (0..1, None: none counted), what the cell says in text, and the arms behind it."""

    share: float | None
    text: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True)
class HeatMap:
    """Traps (rows) by conditions (columns). `groups` names the block that each row stands in (its construct)."""

    title: str
    says: str
    corner: str
    rows: tuple[str, ...]
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[HeatCell, ...], ...]  # one tuple a row, as long as `columns`

    def table(self) -> Table:
        body = tuple((name, *(cell.text for cell in cells)) for name, cells in zip(self.rows, self.cells, strict=True))
        return Table(self.title, (self.corner, *self.columns), body)


@dataclass(frozen=True)
class Bars:
    """Stacked bars: each row's counts by part, in order. Parts with the same number are drawn in the same pattern."""

    title: str
    says: str
    corner: str
    parts: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]

    def table(self) -> Table:
        body = tuple((label, *(str(count) for count in counts)) for label, counts in self.rows)
        return Table(self.title, (self.corner, *self.parts), body)


@dataclass(frozen=True)
class Point:
    """One condition. `frontier`: no other one is as good in both cost and Pass@1 and better in one of them."""

    label: str
    x: float | None
    y: float | None
    low: float | None = None  # interval of y
    high: float | None = None
    frontier: bool = False


@dataclass(frozen=True)
class Scatter:
    """Cost (x, 0 or more) against Pass@1 (y, 0..1)."""

    title: str
    says: str
    x: str
    y: str
    points: tuple[Point, ...]

    def table(self) -> Table:
        rows = tuple(
            (p.label, NONE if p.x is None else f"{p.x:.6g}", NONE if p.y is None else f"{p.y:.3f}",
             _between(p.low, p.high), "yes" if p.frontier else "no")
            for p in self.points
        )  # fmt: skip
        return Table(self.title, ("condition", self.x, self.y, "95 %", "on the frontier"), rows)


Figure = Forest | HeatMap | Bars | Scatter


def _signed(value: float | None) -> str:
    return NONE if value is None else f"{value:+.3f}"


def _between(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else f"[{low:.3f}, {high:.3f}]"
