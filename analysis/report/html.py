"""The report as one self-contained HTML page.

Invariant: the page needs nothing from outside and may load nothing (its content policy allows its own style and script
by their digests, and no more); no text of the document or of an arm can become markup.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.glossary import Glossary, Term, load
from analysis.report.layout import MAX_CELL, NONE, Document, Drawn, Section, Table
from analysis.report.packing import BUDGET, pack
from analysis.report.source import Arms
from analysis.report.svg import draw
from analysis.report.svg_parts import Link, visible

_TEMPLATES = Path(__file__).with_name("templates")
_SCRIPTS = ("data.js", "arm.js", "page.js")  # one function, in this order
_NUMBER = re.compile(r"[-+<−]?\s?\d[\d./ %,e+-]*(?:\[.*\])?|-")


@dataclass(frozen=True)
class _Text:
    """A text, and the term of the glossary that it is."""

    text: str
    term: str = ""


@dataclass(frozen=True)
class _Cell:
    text: _Text
    number: bool  # of a column of numbers


@dataclass(frozen=True)
class _Table:
    """`parts` of a caption are joined by an equals sign (metrics that are the same number)."""

    id: str
    kind: str
    parts: tuple[_Text, ...]
    header: tuple[_Cell, ...]
    rows: tuple[tuple[_Cell, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Figure:
    id: str
    kind: str
    title: str
    says: str
    svg: Markup
    table: _Table


@dataclass(frozen=True)
class _Section:
    id: str
    title: str
    paragraphs: tuple[str, ...]
    figures: tuple[_Figure, ...]
    tables: tuple[_Table, ...]


@dataclass
class _Page:
    """What is handed out while a page is built: numbers of tables and figures, ids, terms that were linked."""

    glossary: Glossary
    link: Link
    tables: int = 0
    figures: int = 0
    ids: set[str] = field(default_factory=set)
    used: dict[str, Term] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # terms that rows of this section linked

    def text(self, raw: str) -> _Text:
        """A caption or a column heading."""
        shown = _short(raw)
        if (term := self.glossary.find(shown)) is None:
            return _Text(shown)
        self.used[term.id] = term
        return _Text(shown, term.id)

    def row(self, raw: str) -> _Text:
        """A row's heading: a term is linked once a section, so that the keyboard has not to walk through repeats."""
        text = self.text(raw)
        if text.term in self.seen:
            return _Text(text.text)
        self.seen.add(text.term)
        return text

    def slug(self, title: str) -> str:
        """A section's id: `sec-` and its title in plain letters; a second one of the same name gets a number."""
        plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii").lower()
        base = slug = "sec-" + (re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "section")
        again = 1
        while slug in self.ids:
            again += 1
            slug = f"{base}-{again}"
        self.ids.add(slug)
        return slug


def as_html(document: Document, arms: Arms, glossary: Glossary | None = None, *, budget: int = BUDGET) -> str:
    """The whole page. `glossary`: None takes the shipped one; `budget`: bytes that the embedded arms may take.

    Over the budget, texts of arms are cut, all to the same length, and the page says so.
    """
    packed = pack(arms, budget)

    def link(arm: str) -> str | None:
        return f"#arm-{packed.keys[arm]}" if arm in packed.keys else None

    page = _Page(load() if glossary is None else glossary, link)
    sections = [_section(page, section) for section in document.sections]
    style, script = _read("style.css"), f"(() => {{\n{''.join(map(_read, _SCRIPTS))}}})();"
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        title=visible(document.title),
        paragraphs=[visible(text) for text in document.paragraphs],
        sections=sections,
        terms=[term for term in page.glossary.terms if term.id in page.used],
        style=Markup(style),
        script=Markup(script),
        style_digest=_digest(style),
        script_digest=_digest(script),
        pack=packed,
        arms=len(packed.keys),
        visible=visible,
    )


def _section(page: _Page, section: Section) -> _Section:
    slug = page.slug(section.title)
    page.seen.clear()
    return _Section(
        slug,
        visible(section.title),
        tuple(visible(text) for text in section.paragraphs),
        tuple(_figure(page, figure) for figure in section.figures),
        tuple(_numbered(page, table) for table in section.tables),
    )


def _figure(page: _Page, figure: Drawn) -> _Figure:
    page.figures += 1
    name = f"fig-{page.figures}"
    svg = Markup(draw(figure, name, page.link))  # element trees, serialised: texts in it are escaped
    table = _table(page, figure.table(), f"{name}-table", f"Figure {page.figures} as a table")
    kind = type(figure).__name__.lower()
    return _Figure(name, kind, visible(figure.title), visible(figure.says), svg, table)


def _numbered(page: _Page, table: Table) -> _Table:
    page.tables += 1
    return _table(page, table, f"tab-{page.tables}", f"Table {page.tables}")


def _table(page: _Page, table: Table, name: str, kind: str) -> _Table:
    right = _numbers(table)
    header = tuple(_Cell(page.text(text), number) for text, number in zip(table.header, right, strict=True))
    rows = tuple(
        tuple(
            _Cell(_Text(_short(text)) if column else page.row(text), right[column]) for column, text in enumerate(row)
        )
        for row in table.rows
    )
    parts = tuple(page.text(part) for part in table.title.split(" = "))
    return _Table(name, kind, parts, header, rows, tuple(visible(note) for note in table.notes))


def _numbers(table: Table) -> list[bool]:
    """Which columns hold numbers throughout, or gaps beside numbers, and stand on the right."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    return [
        any(cell != NONE for cell in cells) and all(_NUMBER.fullmatch(_short(cell)) for cell in cells)
        for cells in columns
    ]


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= MAX_CELL else shown[: MAX_CELL - 1] + "…"


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
