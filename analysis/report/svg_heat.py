"""The heat map: traps by conditions, each cell with its colour, its text and a link to its arms.

Invariant: a cell says in text what its colour shows; a cell where nothing was counted is hatched and never coloured as
0; the drawing is a group and not an image, because its cells are links that readers must reach.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from analysis.report.figures import HeatCell, HeatMap
from analysis.report.layout import NONE
from analysis.report.svg_parts import Link, add, frame, hatch, label, visible, width

STEPS = 10  # shares are drawn in STEPS + 1 colours, classes heat-0 to heat-10
_WIDEST, _LINES = 110.0, 3  # px and lines of a cell; what does not fit is in its name and in the table
_LINE, _GAP, _KEY = 14.0, 7.0, 40.0
_TALLEST = 700.0  # px of all cells of a piece: with headings and key it fits A4 and Letter unscaled


@dataclass(frozen=True)
class _Shape:
    """Sizes in px, the same for all pieces of a map."""

    blocks: float  # width of the names of blocks
    names: float  # where the cells begin
    wide: float  # a cell
    tall: float
    top: float  # height of the headings
    slanted: bool
    beyond: float  # how far headings reach past the last cell

    @classmethod
    def of(cls, figure: HeatMap) -> _Shape:
        blocks = min(140.0, max([0.0, *(width(group) + 14 for group in figure.groups if group)]))
        names = blocks + min(240.0, max([60.0, *(width(row) + 12 for row in figure.rows)]))
        texts = [cell.text for cells in figure.cells for cell in cells]
        wide = min(_WIDEST, max([52.0, *(width(text) + 12 for text in texts)]))
        tall = _LINE * max([1, *(len(_lines(text, wide - 6)) for text in texts)]) + 10
        longest = max([0.0, *(width(column) for column in figure.columns)])
        if longest <= wide - 4:
            return cls(blocks, names, wide, tall, 26.0, False, 8.0)
        return cls(blocks, names, wide, tall, min(150.0, longest * 0.64 + 18), True, min(150.0, longest) * 0.76)


def heat_maps(figure: HeatMap, name: str, link: Link) -> list[ET.Element]:
    """The drawing, in pieces that fit a page of paper, each with the headings; `link`: where an arm's detail is."""
    shape = _Shape.of(figure)
    pieces = _pieces(figure.groups, max(1, int(_TALLEST / shape.tall)))
    drawn = []
    for number, rows in enumerate(pieces, start=1):
        title = figure.title if len(pieces) == 1 else f"{figure.title}, part {number} of {len(pieces)}"
        drawn.append(_piece(figure, shape, name if number == 1 else f"{name}-{number}", title, rows, link))
    return drawn


def _pieces(groups: Sequence[str], most: int) -> list[range]:
    """Rows by piece: at most `most` each, and whole blocks where a block is not longer than that."""
    starts = [n for n, group in enumerate(groups) if n == 0 or groups[n - 1] != group]
    found = [range(0)]
    for start, end in itertools.pairwise([*starts, len(groups)]):
        if end - found[-1].start <= most:
            found[-1] = range(found[-1].start, end)
        else:
            found += [range(n, min(n + most, end)) for n in range(start, end, most)]
    return [rows for rows in found if rows] or [range(0)]


def _piece(figure: HeatMap, shape: _Shape, name: str, title: str, rows: range, link: Link) -> ET.Element:
    first = [n for n in rows if n == rows.start or figure.groups[n - 1] != figure.groups[n]]
    whole = shape.names + max(shape.wide * len(figure.columns) + shape.beyond, (STEPS + 1) * 14 + 140)
    high = shape.top + shape.tall * len(rows) + _GAP * len(first) + _KEY
    root = frame(name, title, figure.says, whole, high, role="group")
    gap = hatch(root, f"{name}-gap")
    _columns(root, figure, shape)
    y = shape.top
    for number in rows:
        row, middle = figure.rows[number], y + shape.tall / 2
        if number in first:
            y, middle = y + _GAP, middle + _GAP
            label(root, 0, middle, figure.groups[number], shape.blocks, "strong")
        label(root, shape.names - 8, middle, row, shape.names - shape.blocks - 8, "", "end")
        for place, (column, cell) in enumerate(zip(figure.columns, figure.cells[number], strict=True)):
            box = (shape.names + place * shape.wide, y, shape.wide, shape.tall)
            _cell(root, cell, f"{row}, {column}: {cell.text}", box, gap, link)
        y += shape.tall
    _key(root, shape.names, y + 12, gap)
    return root


def _columns(root: ET.Element, figure: HeatMap, shape: _Shape) -> None:
    for number, column in enumerate(figure.columns):
        x, top = shape.names + (number + 0.5) * shape.wide, shape.top
        if shape.slanted:
            node = label(root, x, top - 10, column, 190, "", "start")
            node.set("transform", f"rotate(-40 {x:.2f} {top - 8:.2f})")
        else:
            label(root, x, top - 12, column, shape.wide, "", "middle")


def _cell(
    root: ET.Element, cell: HeatCell, says: str, box: tuple[float, float, float, float], gap: str, link: Link
) -> None:
    x, y, wide, tall = box
    found = [target for target in map(link, cell.arms) if target]
    holder = add(root, "g")
    if found:
        said = f"{says} ({len(cell.arms)} arm{'' if len(cell.arms) == 1 else 's'})"
        holder.tag = "a"
        holder.attrib.update({"href": found[0], "class": "cell", "aria-label": visible(said)})
    rect = add(holder, "rect", x=x + 1, y=y + 1, width=wide - 2, height=tall - 2)
    kind = "halo muted"
    if cell.share is None:
        rect.attrib.update({"fill": gap, "class": "gap"})
    else:
        step = round(min(1.0, max(0.0, cell.share)) * STEPS)
        rect.set("class", f"heat heat-{step}")
        kind = f"on-heat-{step}"
    lines = _lines(cell.text or NONE, wide - 6)
    for number, line in enumerate(lines):
        middle = y + tall / 2 + (number - (len(lines) - 1) / 2) * _LINE
        label(holder, x + wide / 2, middle, line, wide - 6, kind, "middle")
    add(holder, "title", says)


def _lines(text: str, room: float) -> list[str]:
    """The text on at most `_LINES` lines, broken behind commas."""
    first, *parts = visible(text).split(", ")
    lines = [first]
    for part in parts:
        if width(f"{lines[-1]}, {part},") <= room or len(lines) == _LINES:
            lines[-1] += f", {part}"
        else:
            lines[-1] += ","
            lines.append(part)
    return lines


def _key(root: ET.Element, x: float, y: float, gap: str) -> None:
    for step in range(STEPS + 1):
        add(root, "rect", x=x + step * 14, y=y, width=13, height=12, class_=f"heat heat-{step}")
    end = x + (STEPS + 1) * 14
    label(root, x, y + 20, "0", 20, "muted")
    label(root, end, y + 20, "1", 20, "muted", "end")
    rect = add(root, "rect", x=end + 18, y=y, width=20, height=12, class_="gap")
    rect.set("fill", gap)
    label(root, end + 44, y + 6, "none counted", 90, "muted")
