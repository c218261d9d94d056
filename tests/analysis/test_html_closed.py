"""The page is closed: nothing comes from outside, and no text of a run or a document becomes markup."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import analysis.report.html
from analysis.glossary import Glossary
from analysis.report.figures import Bars, Forest, ForestRow, HeatCell, HeatMap, Point, Scatter
from analysis.report.html import as_html
from analysis.report.layout import Document, Section, Table
from analysis.report.source import Arms
from analysis.report.svg_parts import visible

from .html_tree import Node, parsed
from .page_kit import arms, document

TEMPLATES = Path(analysis.report.html.__file__).with_name("templates")
NO_TERMS = Glossary(())
DRAWN = {"title", "desc", "g", "a", "text", "line", "rect", "circle", "path", "defs", "pattern"}


@pytest.fixture(scope="module")
def page() -> str:
    return as_html(document(), arms())


@pytest.fixture(scope="module")
def tree(page: str) -> Node:
    return parsed(page)


# ---- nothing from outside


def test_the_policy_allows_the_page_s_own_style_and_script_and_nothing_else(page: str, tree: Node) -> None:
    policy = tree.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    (script,) = (s for s in tree.all("script") if "type" not in s.attributes)
    assert rules == {
        "default-src": "'none'",
        "style-src": digest(tree.one("style").text),
        "script-src": digest(script.text),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    first = page.index("<meta http-equiv")
    assert first < page.index("<style") < page.index("<script")


def test_nothing_refers_to_the_outside(page: str, tree: Node) -> None:
    for node in tree.all():
        assert node.tag not in ("link", "img", "iframe", "object", "embed", "base", "image", "use")
        assert not {"src", "srcset", "style", "action", "data", "ping"} & set(node.attributes)
        assert not [name for name in node.attributes if name.startswith("on")]
    assert "://" not in re.sub(r'(?s)<script type="application/octet-stream".*?</script>', "", page)
    style = tree.one("style").text
    assert "@import" not in style
    assert "url(" not in style


def test_the_script_never_makes_markup_of_a_text() -> None:
    script = "".join((TEMPLATES / name).read_text() for name in ("data.js", "arm.js", "page.js"))
    makes = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser",
             "createContextualFragment")  # fmt: skip
    keeps_or_sends = ("fetch(", "XMLHttpRequest", "localStorage", "sessionStorage", "cookie", "sendBeacon")
    assert not [word for word in (*makes, *keeps_or_sends) if word in script]


def test_style_and_script_cannot_end_their_element() -> None:
    for path in TEMPLATES.glob("*.[cj]s*"):
        assert "</" not in path.read_text()
        assert "\r" not in path.read_text()


# ---- hostile texts

HOSTILE = st.text(st.characters(exclude_categories=()), min_size=1, max_size=30) | st.sampled_from(
    [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</title></style><!--",
        "\x00\x1b[31m\x85",
        "\u202egnp.exe\u2066",
        "{{ 7 * 7 }}{% raw %}",
        '" onmouseover="alert(1)',
        "' autofocus onfocus='alert(1)",
        "javascript:alert(1)",
        "w" * 3000,
        "&lt;b&gt;",
    ]
)


def filled(a: str, b: str, c: str) -> tuple[Document, Arms]:
    figures = (
        Forest(a, b, c, a, b, (ForestRow(c, "registered", 0.5, note=a),)),
        HeatMap(a, b, c, ("row" + a,), (b,), (c,), ((HeatCell(0.5, a, (b,)),),)),
        Bars(a, b, c, (a, b), ((c, (1, 2)),)),
        Scatter(a, b, c, a, (Point(b, 1.0, 0.5),)),
    )
    sections = tuple(Section(a, (b, c), (Table(c, (a, b), ((c, a),), (b,)),), (figure,)) for figure in figures)
    plain = arms()
    detail = dataclasses.replace(plain.details[0], arm=b, trap=a, condition=c, history=b)
    return Document(a, (b, c), sections), Arms((detail,), {**plain.texts, "item": a})


def skeleton(node: Node) -> list[object]:
    """Elements and their attributes' names but for the class of numbers; a drawing is one, since labels wrap."""
    found: list[object] = []
    for child in node.children:
        if isinstance(child, Node):
            found.append((child.tag, sorted(child.attributes.keys() - {"class"})))
            if child.tag != "svg":
                found.append(skeleton(child))
    return found


@pytest.fixture(scope="module")
def plain_skeleton() -> list[object]:
    return skeleton(parsed(as_html(*filled("a", "b", "c"), NO_TERMS)))


@settings(max_examples=60, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_a_hostile_text_changes_no_element(plain_skeleton: list[object], a: str, b: str, c: str) -> None:
    if " = " in c:
        c = "c"  # a caption of several names has a part for each
    page = as_html(*filled(a, b, c), NO_TERMS)
    page.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    tree = parsed(page)
    assert skeleton(tree) == plain_skeleton
    assert tree.one("h1").text == visible(a)
    assert [p.text for p in tree.one("div", class_="lead").all("p")] == [visible(b), visible(c)]
    for svg in tree.all("svg"):
        assert {n.tag for n in svg.all()} <= DRAWN
    assert len(list(tree.all("script"))) == 3
