"""Drawings: well-formed whatever the labels, every number where it belongs, a missing value never drawn as 0."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.figures import Bars, Forest, ForestRow, HeatCell, HeatMap, Point, Scatter
from analysis.report.layout import Drawn, Table
from analysis.report.packing import fragments
from analysis.report.svg import draw
from analysis.report.svg_parts import fitted, ticks, visible, width, wrapped

from .page_kit import bars, forest, heat_map, scatter

FIGURES = (forest(), heat_map(), bars(), scatter())
ALLOWED = {"svg", "title", "desc", "g", "a", "text", "line", "rect", "circle", "path", "defs", "pattern"}
HOSTILE = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["</svg><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\x00\x1b[31m", "\u202egnp.exe", "w" * 3000]
)


def drawn(figure: Drawn, known: Sequence[str] | None = None) -> ET.Element:
    def link(arm: str) -> str | None:
        return f"#arm-{fragments([arm])[arm]}" if known is None or arm in known else None

    return ET.fromstring(draw(figure, "fig-1", link))


def classed(root: ET.Element, tag: str, name: str) -> list[ET.Element]:
    return [node for node in root.iter(tag) if name in node.get("class", "").split()]


def texts(root: ET.Element) -> list[str]:
    return [node.text or "" for node in root.iter("text")]


def at(node: ET.Element, name: str) -> float:
    return float(node.attrib[name])


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: type(figure).__name__)
def test_a_drawing_has_a_role_a_title_and_a_description(figure: Drawn) -> None:
    root = drawn(figure)
    assert root.tag == "svg"
    assert root.attrib["role"] == ("group" if isinstance(figure, HeatMap) else "img")
    assert root.attrib["aria-labelledby"] == root[0].attrib["id"] == "fig-1-title"
    assert root.attrib["aria-describedby"] == root[1].attrib["id"] == "fig-1-desc"
    assert (root[0].tag, root[0].text) == ("title", figure.title)
    assert (root[1].tag, root[1].text) == ("desc", figure.says)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: type(figure).__name__)
def test_every_mark_and_text_lies_inside_the_drawing(figure: Drawn) -> None:
    root = drawn(figure)
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    for node in (n for n in root.iter() if n.tag in ("text", "rect", "circle") and not n.get("transform")):
        x, y = float(node.get("x", node.get("cx", "0"))), float(node.get("y", node.get("cy", "0")))
        assert 0 <= x <= wide
        assert 0 <= y <= high
        if node.tag == "text" and node.get("text-anchor") == "start":
            assert x + width(node.text or "") <= wide + 1


def test_the_forest_tells_kinds_apart_by_shape() -> None:
    root = drawn(forest())
    rows = [group for group in root if group.tag == "g"]
    primary, registered, missing, exploratory = rows
    assert [n.tag for n in primary if n.get("class") == "mark-full"] == ["path"]
    assert [n.tag for n in registered if n.get("class") == "mark-full"] == ["rect"]
    assert [n.tag for n in exploratory if n.get("class") == "mark-open"] == ["circle"]
    assert not [n for n in missing if (n.get("class") or "").startswith(("mark", "whisker"))]
    assert "no value" in texts(missing)
    assert {"Registered", "Exploratory", "← the second passes more", "the first passes more →"} <= set(texts(root))


def test_the_forest_draws_values_to_scale_around_zero() -> None:
    rows = tuple(ForestRow(str(v), "exploratory", v, v - 0.1, v + 0.1) for v in (-0.4, 0.0, 0.2))
    root = drawn(Forest("t", "s", "a", "l", "r", rows))
    zero = at(classed(root, "line", "zero")[0], "x1")
    below, none, above = (at(circle, "cx") for circle in classed(root, "circle", "mark-open")[:3])
    assert none == pytest.approx(zero, abs=0.02)
    assert below - zero == pytest.approx(-2 * (above - zero), abs=0.05)
    assert above > zero
    lines = [line for line in classed(root, "line", "whisker") if at(line, "y1") == at(line, "y2")]
    assert [at(line, "x2") - at(line, "x1") for line in lines] == pytest.approx([above - zero] * 3, abs=0.05)


def test_a_forest_without_rows_is_drawn() -> None:
    assert texts(drawn(Forest("t", "s", "axis", "l", "r", ())))[-1] == "axis"


def test_every_cell_of_a_heat_map_has_colour_text_and_a_link_to_its_arms() -> None:
    root = drawn(heat_map())
    cells = classed(root, "a", "cell")
    assert len(cells) == 5
    assert cells[1].attrib["href"] == "#arm-c1_return_form/B5/1/given"
    assert cells[1].attrib["aria-label"] == "c1_return_form, B5: 2/3 (2 arms)"
    assert [texts(cell) for cell in cells[:3]] == [["1/3"], ["2/3"], ["3/3"]]
    assert [cell[0].attrib["class"] for cell in cells[:3]] == ["heat heat-3", "heat heat-7", "heat heat-10"]
    (gap,) = [g for g in root if g.tag == "g"]
    assert gap[0].attrib["fill"] == "url(#fig-1-gap)"
    assert "heat" not in gap[0].attrib["class"].split()
    assert texts(gap) == ["-"]


@pytest.mark.parametrize(("share", "step"), [(0.0, 0), (0.049, 0), (0.051, 1), (0.5, 5), (0.96, 10), (1.0, 10)])
def test_colours_follow_the_share(share: float, step: int) -> None:
    root = drawn(HeatMap("t", "s", "c", ("row",), ("",), ("col",), ((HeatCell(share, "x"),),)))
    assert root.find("g/rect").attrib["class"] == f"heat heat-{step}"  # type: ignore[union-attr]


def test_a_long_text_of_a_cell_is_set_on_lines() -> None:
    cells = ((HeatCell(1 / 5, "1/5, trapped 3, failed 1"), HeatCell(1.0, "3/3")),)
    root = drawn(HeatMap("t", "s", "c", ("row",), ("",), ("one", "two"), cells))
    long, short = root.findall("g")
    assert texts(long) == ["1/5, trapped 3,", "failed 1"]
    assert long.find("title").text == "row, one: 1/5, trapped 3, failed 1"  # type: ignore[union-attr]
    assert at(long[0], "height") == at(short[0], "height") == 36


def test_a_long_heat_map_is_drawn_in_pieces_that_keep_blocks_together() -> None:
    sizes = {"C1": 20, "C2": 15, "C3": 2, "C4": 40}
    groups = tuple(name for name, size in sizes.items() for _ in range(size))
    rows = tuple(f"trap-{n}" for n in range(len(groups)))
    figure = HeatMap("Map", "s", "c", rows, groups, ("one",), tuple((HeatCell(1.0, "3/3"),) for _ in rows))
    pieces = [ET.fromstring(piece) for piece in draw(figure, "fig-1", lambda arm: None).split("\n")]
    assert [piece[0].text for piece in pieces] == [f"Map, part {n} of 4" for n in (1, 2, 3, 4)]
    assert [piece.attrib["aria-labelledby"] for piece in pieces] == [
        "fig-1-title", "fig-1-2-title", "fig-1-3-title", "fig-1-4-title"
    ]  # fmt: skip
    found = [[text for text in texts(piece) if text.startswith(("C", "trap"))] for piece in pieces]
    assert [[text for text in piece if text.startswith("C")] for piece in found] == [
        ["C1"],
        ["C2", "C3"],
        ["C4"],
        ["C4"],
    ]
    assert [sum(text.startswith("trap") for text in piece) for piece in found] == [20, 17, 29, 11]
    assert all(at(piece, "height") < 900 for piece in pieces)
    assert all("one" in texts(piece) for piece in pieces)


def test_a_cell_whose_arms_are_not_in_the_page_is_no_link() -> None:
    assert not classed(drawn(heat_map(), known=()), "a", "cell")


def test_bars_are_to_scale_and_each_part_has_its_own_pattern() -> None:
    root = drawn(bars())
    wide: dict[str, float] = {}
    for rect in classed(root, "rect", "edge"):
        if at(rect, "height") == 22:
            wide.setdefault(rect.attrib["fill"], at(rect, "width"))
    assert wide["url(#fig-1-part-0)"] == pytest.approx(21 / 30 * wide["url(#fig-1-part-4)"], abs=0.02)
    assert {p.attrib["id"] for p in root.iter("pattern")} == {f"fig-1-part-{n}" for n in range(5)}
    inks = [ET.tostring(pattern) for pattern in root.iter("pattern")]
    assert len(set(inks)) == 5
    assert "nothing counted" in texts(root)


def test_a_scatter_puts_points_to_scale_and_names_what_it_cannot_place() -> None:
    root = drawn(scatter())
    points = {c[0].text: c for c in root.iter("circle")}
    free, dear = points["B0: on the frontier"], points["B5: on the frontier"]
    assert (free.attrib["class"], points["ALL: not on the frontier"].attrib["class"]) == ("mark-full", "mark-open")
    axis = [line for line in classed(root, "line", "grid") if at(line, "y1") == at(line, "y2")]
    full = min(at(line, "y1") for line in axis)
    zero = at(classed(root, "line", "zero")[0], "y1")
    assert (zero - at(dear, "cy")) / (zero - full) == pytest.approx(0.7, abs=0.001)
    assert at(free, "cx") == at(classed(root, "line", "zero")[0], "x1")
    right = max(at(line, "x2") for line in axis)
    assert at(points["hosted: not on the frontier"], "cx") > right
    assert "no known cost" in texts(root)
    assert "No rate, not drawn: broken" in texts(root)
    (line,) = classed(root, "path", "frontier")
    assert line.attrib["d"].startswith(f"M{at(free, 'cx'):.2f} ")


def test_labels_of_points_close_together_do_not_overlap() -> None:
    points = tuple(Point(f"condition-{n}", 100.0 + n % 3, 0.9 + n / 1000) for n in range(10))
    root = drawn(Scatter("t", "s", "x", "y", points))
    boxes = [(at(t, "x"), at(t, "y"), width(t.text or "")) for t in root.iter("text") if "halo" in t.get("class", "")]
    assert len(boxes) == 10
    for (x, y, wide), (other_x, other_y, other_wide) in itertools.combinations(boxes, 2):
        assert abs(y - other_y) >= 12 or x + wide <= other_x or other_x + other_wide <= x


@settings(max_examples=60, deadline=None)
@given(st.lists(HOSTILE, min_size=6, max_size=6), st.booleans())
def test_no_label_can_break_out(words: list[str], missing: bool) -> None:
    a, b, c, d, e, f = words
    value = None if missing else 0.25
    figures: tuple[Drawn, ...] = (
        Forest(a, b, c, d, e, (ForestRow(f, a, value, note=b), ForestRow(a, "registered", -1.0, -1.0, 1.0, c, True))),
        HeatMap(a, b, c, (d,), (e,), (f,), ((HeatCell(value, a, (b,)),),)),
        Bars(a, b, c, (d, e), ((f, (0, 7)),)),
        Scatter(a, b, c, d, (Point(e, value, 0.5, 0.4, 0.6), Point(f, 1.0, value, frontier=True))),
    )
    for figure in figures:
        root = drawn(figure)
        assert {node.tag for node in root.iter()} <= ALLOWED
        assert root[0].text == (visible(a) or None)
        for node in root.iter():
            assert not [name for name in node.attrib if name.startswith("on") or name == "style"]


def test_a_figure_without_a_drawing_is_refused() -> None:
    class Pie:
        title = says = "pie"

        def table(self) -> Table:
            return Table("pie", (), ())

    with pytest.raises(TypeError, match="no drawing for a Pie"):
        drawn(Pie())


@given(st.floats(1e-9, 1e12), st.integers(2, 8))
def test_ticks_are_even_and_reach_the_top_without_a_step_to_spare(top: float, count: int) -> None:
    found = ticks(top, count)
    step = found[1]
    assert found[0] == 0
    assert found[-1] >= top * (1 - 1e-9)
    assert found[-2] < top
    assert len(found) <= count + 2
    assert found == pytest.approx([n * step for n in range(len(found))])


@pytest.mark.parametrize("top", [0.0, -1.0, float("nan"), float("inf")])
def test_ticks_of_nothing_are_zero_and_one(top: float) -> None:
    assert ticks(top) == [0.0, 1.0]


@given(HOSTILE, st.floats(30, 300))
def test_texts_fit_their_room(text: str, room: float) -> None:
    assert width(fitted(text, room)) <= room
    assert all(width(line) <= room for line in wrapped(text, room, 2))
    assert fitted("short", 300) == "short"


def test_of_many_points_only_those_on_the_frontier_are_named() -> None:
    points = tuple(Point(f"condition-{n}", 100.0 + n, n / 40, frontier=n in (3, 9)) for n in range(13))
    root = drawn(Scatter("t", "s", "x", "y", points))
    named = [t.text for t in root.iter("text") if "halo" in t.get("class", "")]
    assert sorted(named, key=str) == ["condition-3", "condition-9"]
    assert len(list(root.iter("circle"))) == 13
