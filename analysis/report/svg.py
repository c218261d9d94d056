"""Figures as inline SVG.

Invariant: every drawing has a title and a description in words, no style, script or reference of its own except to
places in the page, and is well-formed XML whatever its labels hold.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from analysis.report.figures import Bars, Forest, HeatMap, Scatter
from analysis.report.layout import Drawn
from analysis.report.svg_bars import bars
from analysis.report.svg_forest import forest
from analysis.report.svg_heat import heat_maps
from analysis.report.svg_parts import Link
from analysis.report.svg_scatter import scatter


def draw(figure: Drawn, name: str, link: Link) -> str:
    """The figure as one `<svg>` element, or a heat map that is longer than a page as several.

    `name`: the figure's id in the page; `link`: where an arm's detail is. Raises TypeError: a kind of figure that there
    is no drawing for.
    """
    return "\n".join(ET.tostring(root, encoding="unicode") for root in _drawn(figure, name, link))


def _drawn(figure: Drawn, name: str, link: Link) -> list[ET.Element]:
    if isinstance(figure, HeatMap):
        return heat_maps(figure, name, link)
    if isinstance(figure, Forest):
        return [forest(figure, name)]
    if isinstance(figure, Bars):
        return [bars(figure, name)]
    if isinstance(figure, Scatter):
        return [scatter(figure, name)]
    raise TypeError(f"no drawing for a {type(figure).__name__}")
