"""Stacked bars: each row's counts by part, told apart by pattern and by number.

Invariant: all rows share one scale from 0; every part has a pattern and an outline of its own besides its colour; a row
that counts nothing is a labelled gap.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from analysis.report.figures import Bars
from analysis.report.svg_parts import add, frame, label, ticks, width

_WIDE, _HIGH, _BAR = 800.0, 34.0, 22.0
_LINES = (
    "",
    "M0 8L8 0M-2 2L2 -2M6 10L10 6",
    "M0 4H8",
    "M4 0V8",
    "M0 0L8 8M-2 6L2 10M6 -2L10 2",
    "M0 4H8M4 0V8",
    "M0 8L8 0M0 0L8 8",
    "M3 4a1 1 0 1 0 2 0a1 1 0 1 0 -2 0",
)
Placed = tuple[int, str, float, float]  # part, its name, x, line


def bars(figure: Bars, name: str) -> ET.Element:
    """The drawing; `name` is the figure's id."""
    names = min(220.0, max([60.0, *(width(row) + 12 for row, _ in figure.rows)]))
    placed = _placed(figure)
    top = 26.0 * (placed[-1][3] + 1 if placed else 0) + 8
    bottom = top + _HIGH * len(figure.rows)
    root = frame(name, figure.title, figure.says, _WIDE, bottom + 34)
    _patterns(root, name, len(figure.parts))
    for part, said, x, line in placed:
        add(root, "rect", x=x, y=line * 26 + 4, width=22, height=14, fill=_fill(name, part), class_="edge")
        label(root, x + 28, line * 26 + 11, said, _WIDE - x - 28)
    steps = ticks(max((sum(counts) for _, counts in figure.rows), default=0))
    scale = (_WIDE - names - 60) / steps[-1]
    for step in steps:
        x = names + step * scale
        add(root, "line", x1=x, x2=x, y1=top, y2=bottom + 4, class_="grid" if step else "zero")
        label(root, x, bottom + 16, f"{step:.6g}", 80, "muted", "middle")
    for number, (row, counts) in enumerate(figure.rows):
        y = top + (number + 0.5) * _HIGH
        label(root, names - 10, y, row, names - 12, "", "end")
        _bar(root, name, counts, names, y, scale)
    return root


def _placed(figure: Bars) -> list[Placed]:
    """Where each part stands in the key, which takes as many lines as it needs."""
    found: list[Placed] = []
    x, line = 0.0, 0.0
    for number, part in enumerate(figure.parts):
        room = 28 + width(part) + 22
        if x and x + room > _WIDE:
            x, line = 0.0, line + 1
        found.append((number, part, x, line))
        x += room
    return found


def _bar(root: ET.Element, name: str, counts: tuple[int, ...], x: float, y: float, scale: float) -> None:
    total = sum(counts)
    for part, count in enumerate(counts):
        if count <= 0:
            continue
        wide = count * scale
        add(root, "rect", x=x, y=y - _BAR / 2, width=wide, height=_BAR, fill=_fill(name, part), class_="edge")
        text = str(count)
        if wide >= (room := width(text) + 6) + 2:
            add(root, "rect", x=x + (wide - room) / 2, y=y - 8, width=room, height=16, rx=3, class_="paper")
            label(root, x + wide / 2, y, text, room, "", "middle")
        x += wide
    label(root, x + 8, y, str(total) if total else "nothing counted", 120, "strong" if total else "muted halo")


def _patterns(root: ET.Element, name: str, parts: int) -> None:
    defs = add(root, "defs")
    for part in range(parts):
        pattern = add(defs, "pattern", id=f"{name}-part-{part}", width=8, height=8, patternUnits="userSpaceOnUse")
        add(pattern, "rect", width=8, height=8, class_=f"part-{part % len(_LINES)}")
        if lines := _LINES[part % len(_LINES)]:
            add(pattern, "path", d=lines, class_="stripe")


def _fill(name: str, part: int) -> str:
    return f"url(#{name}-part-{part})"
