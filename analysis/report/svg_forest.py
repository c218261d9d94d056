"""The forest plot: every comparison with its interval around the line at 0.

Invariant: registered and exploratory comparisons differ in shape (filled square or diamond, open circle), not only in
colour; a comparison without a value is a labelled gap; every mark lies inside the plot.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from analysis.report.figures import Forest, ForestRow
from analysis.report.svg_parts import SIZE, add, frame, label, ticks, width, wrapped

_WIDE, _ROW, _HEAD, _TOP = 880.0, 38.0, 28.0, 14.0


def forest(figure: Forest, name: str) -> ET.Element:
    """The drawing; `name` is the figure's id."""
    groups = list(dict.fromkeys(row.group for row in figure.rows))
    names = min(230.0, max([110.0, *(width(row.label) + 18 for row in figure.rows)]))
    bottom = _TOP + _HEAD * len(groups) + _ROW * len(figure.rows)
    reading = min(340.0, max([190.0, *(width(row.note) + 4 for row in figure.rows)]))
    plot = _Plot(figure, names + 10, _WIDE - reading - 16, bottom)
    root = frame(name, figure.title, figure.says, _WIDE, bottom + 98)
    _grid(root, plot)
    y = _TOP
    for group in groups:
        add(root, "line", x1=0, x2=_WIDE, y1=y + _HEAD - 2, y2=y + _HEAD - 2, class_="hair")
        label(root, 0, y + _HEAD / 2, group[:1].upper() + group[1:], _WIDE, "strong")
        y += _HEAD
        for row in figure.rows:
            if row.group == group:
                _row(root, plot, row, y + _ROW / 2)
                y += _ROW
    _axis(root, plot, figure)
    return root


class _Plot:
    """Where values lie: an axis as long to the left of 0 as to the right."""

    def __init__(self, figure: Forest, left: float, right: float, bottom: float) -> None:
        ends = [abs(v) for row in figure.rows for v in (row.value, row.low, row.high) if v is not None]
        self.steps = ticks(max(ends, default=0.0), 3)
        self.left, self.right, self.bottom = left, right, bottom

    def x(self, value: float) -> float:
        middle = (self.left + self.right) / 2
        return middle + value / self.steps[-1] * (self.right - self.left) / 2


def _grid(root: ET.Element, plot: _Plot) -> None:
    for value in (sign * step for step in plot.steps for sign in (-1, 1)):
        x = plot.x(value)
        kind = "zero" if value == 0 else "grid"
        add(root, "line", x1=x, x2=x, y1=_TOP + _HEAD, y2=plot.bottom + 4, class_=kind)


def _row(root: ET.Element, plot: _Plot, row: ForestRow, y: float) -> None:
    group = add(root, "g")
    label(group, 8, y, row.label, plot.left - 18, "strong" if row.primary else "")
    x = plot.right + 16
    reading = _WIDE - x
    if row.value is None:
        add(group, "line", x1=plot.left, x2=plot.right, y1=y, y2=y, class_="gapline")
        label(group, plot.x(0), y, "no value", plot.right - plot.left, "muted halo", "middle")
    else:
        _interval(group, plot, row, y)
        _mark(group, plot.x(row.value), y, row)
        label(group, x, y - (8 if row.note else 0), _numbers(row), reading, "strong" if row.primary else "")
    for number, line in enumerate(wrapped(row.note, reading, 1 if row.value is not None else 2) if row.note else ()):
        label(group, x, y + (8 if row.value is not None else -4) + number * 14, line, reading + 8, "muted")


def _interval(group: ET.Element, plot: _Plot, row: ForestRow, y: float) -> None:
    if row.low is None or row.high is None:
        return
    low, high = plot.x(row.low), plot.x(row.high)
    add(group, "line", x1=low, x2=high, y1=y, y2=y, class_="whisker" if _registered(row) else "whisker open")
    for x in (low, high):
        add(group, "line", x1=x, x2=x, y1=y - 4, y2=y + 4, class_="whisker")


def _mark(group: ET.Element, x: float, y: float, row: ForestRow) -> None:
    if not _registered(row):
        add(group, "circle", cx=x, cy=y, r=5, class_="mark-open")
    elif row.primary:
        add(group, "path", d=f"M{x - 8:.2f} {y:.2f}L{x:.2f} {y - 8:.2f}L{x + 8:.2f} {y:.2f}L{x:.2f} {y + 8:.2f}Z",
            class_="mark-full")  # fmt: skip
    else:
        add(group, "rect", x=x - 5, y=y - 5, width=10, height=10, class_="mark-full")


def _axis(root: ET.Element, plot: _Plot, figure: Forest) -> None:
    y = plot.bottom + 14
    for value in sorted({sign * step for step in plot.steps for sign in (-1, 1)}):
        label(root, plot.x(value), y, f"{value:+.4g}" if value else "0", 60, "muted", "middle")
    middle, half = plot.x(0), (plot.right - plot.left) / 2 + 60
    label(root, middle - 10, y + 20, f"← {figure.left}", half, "", "end")
    label(root, middle + 10, y + 20, f"{figure.right} →", half, "")
    label(root, middle, y + 42, figure.axis, 2 * half, "muted", "middle")
    _key(root, y + 70, figure)


def _key(root: ET.Element, y: float, figure: Forest) -> None:
    """What the shapes mean, in words."""
    shapes = [
        (ForestRow("primary", "registered", 0, primary=True), any(r.primary for r in figure.rows)),
        (ForestRow("registered", "registered", 0), any(_registered(r) and not r.primary for r in figure.rows)),
        (ForestRow("exploratory", "exploratory", 0), any(not _registered(r) for r in figure.rows)),
    ]
    x = 0.0
    for shape, there in shapes:
        if there:
            _mark(root, x + 8, y, shape)
            label(root, x + 20, y, shape.label, 90, "muted")
            x += width(shape.label, SIZE) + 40


def _registered(row: ForestRow) -> bool:
    return row.group == "registered"


def _numbers(row: ForestRow) -> str:
    value = f"{row.value:+.3f}" if row.value is not None else ""
    return value if row.low is None or row.high is None else f"{value} [{row.low:+.3f}, {row.high:+.3f}]"
