"""Cost against Pass@1, with the frontier as a line.

Invariant: points on the frontier differ from others in shape (filled, open); a point without a cost stands in a
labelled strip beside the plot and one without a rate is named below it; labels avoid marks and each other as far as
there is room.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from analysis.report.figures import Point, Scatter
from analysis.report.svg_parts import SIZE, add, frame, label, ticks, visible, width, wrapped

_WIDE, _LEFT, _RIGHT, _TOP, _BOTTOM, _STRIP = 800.0, 62.0, 610.0, 14.0, 366.0, 120.0
_ROOM = 170.0  # px of a label
_NAMED = 12  # points that can all have a label; of more, those on the frontier do


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    wide: float
    high: float

    def shared(self, other: _Box) -> float:
        """The area in both."""
        wide = min(self.x + self.wide, other.x + other.wide) - max(self.x, other.x)
        high = min(self.y + self.high, other.y + other.high) - max(self.y, other.y)
        return wide * high if wide > 0 and high > 0 else 0.0


@dataclass(frozen=True)
class _Placed:
    point: Point
    x: float
    y: float


def scatter(figure: Scatter, name: str) -> ET.Element:
    """The drawing; `name` is the figure's id."""
    unrated = [point.label for point in figure.points if point.y is None]
    missing = wrapped(f"No rate, not drawn: {', '.join(unrated)}", _WIDE - 20, 2) if unrated else []
    root = frame(name, figure.title, figure.says, _WIDE, _BOTTOM + 62 + 18 * len(missing))
    steps = ticks(max((p.x for p in figure.points if p.x is not None), default=0.0))
    _axes(root, figure, steps)
    placed = [_Placed(p, _LEFT + p.x / steps[-1] * (_RIGHT - _LEFT), _height(p.y))
              for p in figure.points if p.x is not None and p.y is not None]  # fmt: skip
    uncosted = [p for p in figure.points if p.x is None and p.y is not None]
    placed += [_Placed(p, _RIGHT + 46, _height(p.y or 0.0)) for p in uncosted]
    if uncosted:
        add(root, "line", x1=_RIGHT + 26, x2=_RIGHT + 26, y1=_TOP, y2=_BOTTOM, class_="gapline")
        label(root, _RIGHT + 34, _BOTTOM + 16, "no known cost", _STRIP, "muted")
    stair = _frontier(root, [p for p in placed if p.point.frontier])
    for p in placed:
        _mark(root, p)
    named = placed if len(placed) <= _NAMED else [p for p in placed if p.point.frontier]
    _labels(root, placed, named, stair)
    for number, line in enumerate(missing):
        label(root, 10, _BOTTOM + 62 + 18 * number, line, _WIDE, "muted")
    return root


def _height(share: float) -> float:
    return _BOTTOM - share * (_BOTTOM - _TOP)


def _axes(root: ET.Element, figure: Scatter, steps: Sequence[float]) -> None:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _height(share)
        add(root, "line", x1=_LEFT, x2=_RIGHT, y1=y, y2=y, class_="grid" if share else "zero")
        label(root, _LEFT - 10, y, f"{share:g}", 50, "muted", "end")
    for step in steps:
        x = _LEFT + step / steps[-1] * (_RIGHT - _LEFT)
        add(root, "line", x1=x, x2=x, y1=_BOTTOM, y2=_BOTTOM + 5, class_="zero")
        label(root, x, _BOTTOM + 16, f"{step:.4g}", 80, "muted", "middle")
    label(root, (_LEFT + _RIGHT) / 2, _BOTTOM + 40, figure.x, _RIGHT - _LEFT, "", "middle")
    middle = (_TOP + _BOTTOM) / 2
    node = label(root, 12, middle, figure.y, _BOTTOM - _TOP, "", "middle")
    node.set("transform", f"rotate(-90 12 {middle:.2f})")


def _frontier(root: ET.Element, placed: Sequence[_Placed]) -> list[_Box]:
    """A stair: what can be had at a cost is what the best point up to that cost has. Returns where its lines are."""
    points = sorted((p for p in placed if p.point.x is not None), key=lambda p: (p.x, -p.y))
    taken = []
    for one, two in itertools.pairwise(points):
        add(root, "path", d=f"M{one.x:.2f} {one.y:.2f}H{two.x:.2f}V{two.y:.2f}", class_="frontier")
        taken.append(_Box(one.x, one.y - 2, two.x - one.x, 4))
        taken.append(_Box(two.x - 2, min(one.y, two.y), 4, abs(two.y - one.y)))
    return taken


def _mark(root: ET.Element, placed: _Placed) -> None:
    point, x, y = placed.point, placed.x, placed.y
    if point.low is not None and point.high is not None:
        low, high = _height(point.low), _height(point.high)
        add(root, "line", x1=x, x2=x, y1=low, y2=high, class_="whisker" if point.frontier else "whisker open")
    shape = add(root, "circle", cx=x, cy=y, r=6, class_="mark-full" if point.frontier else "mark-open")
    add(shape, "title", f"{point.label}: {'on' if point.frontier else 'not on'} the frontier")


def _labels(root: ET.Element, placed: Sequence[_Placed], named: Sequence[_Placed], lines: Sequence[_Box]) -> None:
    """Greedy: each label takes the place around its point that overlaps the least with what is there."""
    taken = [*lines]
    taken += [_Box(p.x - 7, p.y - 7, 14, 14) for p in placed]
    taken += [_Box(p.x - 2, _height(p.point.high), 4, _height(p.point.low) - _height(p.point.high))
              for p in placed if p.point.low is not None and p.point.high is not None]  # fmt: skip
    for p in sorted(named, key=lambda p: (p.y, p.x)):
        wide = min(_ROOM, width(visible(p.point.label)))
        box = min(_around(p.x, p.y, wide), key=lambda pair: _cost(pair[1], taken) + pair[0])[1]
        taken.append(box)
        if abs(box.y + box.high / 2 - p.y) > 30:
            near = box.x if box.x > p.x else min(box.x + box.wide, max(box.x, p.x))
            add(root, "line", x1=p.x, y1=p.y, x2=near, y2=box.y + box.high / 2, class_="leader")
        kind = "halo strong" if p.point.frontier else "halo"
        label(root, box.x, box.y + box.high / 2, p.point.label, _ROOM, kind)


def _around(x: float, y: float, wide: float) -> list[tuple[float, _Box]]:
    """Places for a label, each with how much worse it is than the first (as an area of overlap)."""
    high = SIZE + 4
    found = []
    for away in range(8):
        for dy in dict.fromkeys((-away * 14.0, away * 14.0)):
            for side, dx in enumerate((11.0, -11.0 - wide)):
                found.append((away * 12.0 + side * 3, _Box(x + dx, y + dy - high / 2, wide, high)))
    return found


def _cost(box: _Box, taken: Sequence[_Box]) -> float:
    outside = max(0.0, 2 - box.x, box.x + box.wide - _WIDE + 2, _TOP - 12 - box.y, box.y + box.high - _BOTTOM)
    return sum(box.shared(other) for other in taken) + outside * 200
