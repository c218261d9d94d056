"""The page: its structure, its tables and figures, its glossary, and the arms that it holds."""

from __future__ import annotations

import dataclasses

import pytest

from analysis.glossary import Glossary, Term
from analysis.report.figures import HeatMap
from analysis.report.html import as_html
from analysis.report.layout import MAX_CELL, Document, Section, Table
from analysis.report.source import Arms

from .html_tree import Node, parsed
from .page_kit import arms, bars, document, forest, heat_map, scatter

NO_TERMS = Glossary(())


@pytest.fixture(scope="module")
def page() -> str:
    return as_html(document(), arms())


@pytest.fixture(scope="module")
def tree(page: str) -> Node:
    return parsed(page)


# ---- structure


def test_the_page_has_one_heading_landmarks_and_a_language(tree: Node) -> None:
    assert tree.one("html").attributes["lang"] == "en"
    assert tree.one("h1").text == "A run"
    assert next(tree.one("head").all("title")).text == "A run"
    assert [tree.one(tag).tag for tag in ("main", "header", "footer")] == ["main", "header", "footer"]
    assert tree.one("nav").attributes["aria-labelledby"] == "contents-title"
    skip = next(tree.one("body").all("a"))
    assert skip.attributes["href"] == "#main"
    assert tree.one("main").attributes["id"] == "main"
    assert tree.one(name="color-scheme").attributes["content"] == "light dark"


def test_ids_are_unique_and_every_reference_inside_the_page_has_its_target(tree: Node) -> None:
    ids = [node.attributes["id"] for node in tree.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in tree.all():
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(node.attributes.get(name, "").split()) <= set(ids)
        href = node.attributes.get("href", "#main")
        assert href.startswith("#")
        assert href.startswith("#arm-") or href[1:] in ids


def test_sections_have_stable_ids_and_stand_in_the_contents(tree: Node) -> None:
    titles = {s.attributes["id"]: s.one("h2").text for s in tree.one("main").all("section")}
    assert list(titles)[:3] == ["sec-headline", "sec-headline-2", "arms"]
    linked = [a.attributes["href"][1:] for a in tree.one("nav").all("a")]
    assert linked == [*titles]


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Hygiene (from tracers)", "sec-hygiene-from-tracers"),
        ("Überblick", "sec-uberblick"),
        ("結果", "sec-section"),
        ("</script>", "sec-script"),
    ],
)
def test_ids_of_sections_are_plain(title: str, slug: str) -> None:
    tree = parsed(as_html(Document("d", (), (Section(title),)), Arms(), NO_TERMS))
    assert [s.attributes["id"] for s in tree.one("main").all("section")] == [slug, "arms"]


def test_every_figure_is_drawn_and_followed_by_its_table(tree: Node) -> None:
    figures = list(tree.all("figure"))
    assert [f.attributes["class"] for f in figures] == ["forest", "heatmap", "bars", "scatter"]
    for node, figure in zip(figures, (forest(), heat_map(), bars(), scatter()), strict=True):
        assert [c.tag for c in node.children if isinstance(c, Node)] == ["div", "figcaption", "details"]
        assert node.one("svg").attributes["role"] == ("group" if isinstance(figure, HeatMap) else "img")
        assert figure.says in node.one("figcaption").text
        table = figure.table()
        cells = [tuple(c.text for c in row.all() if c.tag in ("th", "td")) for row in node.one("tbody").all("tr")]
        assert tuple(cells) == table.rows
        assert "open" not in node.one("details").attributes


def test_tables_have_captions_scopes_and_a_region_that_scrolls(tree: Node) -> None:
    tables = list(tree.all("table"))
    assert len(tables) == 6  # four of figures, one of a section, the list of arms
    for region in tree.all("div", class_="scroll"):
        assert region.attributes["role"] == "region"
        assert region.attributes["tabindex"] == "0"
        assert region.attributes.get("aria-label") or region.attributes["aria-labelledby"]
        for table in region.all("table"):
            assert table.one("caption").text
            assert {th.attributes["scope"] for th in table.one("thead").all("th")} == {"col"}
            for row in table.one("tbody").all("tr"):
                assert next(row.all()).attributes["scope"] == "row"
    labels = [r.attributes.get("aria-label") or r.attributes["aria-labelledby"] for r in tree.all(role="region")]
    assert len(labels) == len(set(labels))
    (table,) = (t for t in tables if t.attributes.get("id") == "tab-1")
    assert table.one("caption").text == "Table 1. Pass@1"
    assert [td.attributes.get("class") for td in table.one("tbody").all("td")][:3] == ["n", None, None]


def test_a_long_cell_is_cut_as_in_the_other_renderings() -> None:
    made = Document("d", (), (Section("s", (), (Table("t", ("h",), (("w" * 5000,),)),)),))
    tree = parsed(as_html(made, Arms(), NO_TERMS))
    assert tree.one("tbody").one("th").text == "w" * (MAX_CELL - 1) + "…"


# ---- terms


def test_captions_headings_and_names_that_are_terms_lead_to_the_glossary_of_the_page() -> None:
    terms = (
        Term("useful", "UsefulMemoryPrecision", ("precision",), "What <b>is</b> useful.", "a / b", "docs/x.md"),
        Term("stale", "StaleUseRate", (), "What is stale."),
        Term("b5", "B5", (), "All of it."),
        Term("never", "never named", (), "Not here."),
    )
    table = Table("UsefulMemoryPrecision = StaleUseRate", ("Precision", "B5"), (("B5", "B5"), ("B5 ", "1")))
    made = Document("d", (), (Section("s", (), (table, table)),))
    tree = parsed(as_html(made, Arms(), Glossary(terms)))
    links = [(a.text, a.attributes["href"]) for a in tree.one(id="tab-1").all("a", class_="term")]
    assert links == [
        ("UsefulMemoryPrecision", "#term-useful"),
        ("StaleUseRate", "#term-stale"),
        ("Precision", "#term-useful"),
        ("B5", "#term-b5"),
        ("B5", "#term-b5"),  # the first row; the second row and the rows of the next table repeat it
    ]
    assert len(list(tree.one(id="tab-2").all("a", class_="term"))) == 4
    assert [d.attributes["id"] for d in tree.one("dl").all("div")] == ["term-useful", "term-stale", "term-b5"]
    said = tree.one(id="term-useful").text
    assert all(part in said for part in ("also: precision", "What <b>is</b> useful.", "a / b", "docs/x.md"))


def test_without_terms_there_is_no_glossary() -> None:
    tree = parsed(as_html(document(), arms(), NO_TERMS))
    assert not list(tree.all(id="glossary"))


def test_the_shipped_glossary_is_used_when_none_is_given(tree: Node) -> None:
    assert tree.one(id="term-condition")
    assert tree.one(id="term-pass-at-1")


# ---- embedded arms


def test_arms_are_embedded_and_heat_map_cells_lead_to_them(tree: Node) -> None:
    packs = [s for s in tree.all("script") if s.attributes.get("type") == "application/octet-stream"]
    assert [s.attributes["id"] for s in packs] == ["pack-index", "pack-0", "pack-1"]
    (first, *_) = tree.one("figure", class_="heatmap").one("svg").all("a", class_="cell")
    assert first.attributes["href"] == "#arm-c1_return_form/B0/1/given"
    assert "dreambench show RUN ARM" in tree.one("noscript").text
    assert not list(tree.all(id="cut"))


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        (1_000, "Each text of an arm is cut to 1,000 characters in this page because it would be too large."),
        (0, "The texts of arms are left out of this page because it would be too large."),
    ],
)
def test_the_page_says_when_texts_are_cut(cut: int, says: str) -> None:
    tree = parsed(as_html(document(), dataclasses.replace(arms(), cut=cut), NO_TERMS))
    assert tree.one(id="cut").text == f"{says} dreambench show RUN ARM prints them in full."


def test_a_budget_cuts_texts(page: str) -> None:
    tree = parsed(as_html(document(), arms(), NO_TERMS, budget=0))
    assert tree.one(id="cut").text.startswith("The texts of arms are left out")


def test_a_page_without_arms_says_so() -> None:
    tree = parsed(as_html(document(), Arms(), NO_TERMS))
    assert "holds no details of arms" in tree.one(id="arms").text
    assert [s.attributes for s in tree.all("script")] == [{}]
    assert not list(tree.one("figure", class_="heatmap").one("svg").all("a"))


def test_the_same_report_is_the_same_page(page: str) -> None:
    assert as_html(document(), arms()) == page
