"""A report as data (titles, notes, tables of text cells), and its two renderings: plain text and Markdown.

Invariant: a cell's text may come from a sandbox; it is shown on one line, without control characters, and can start
no markup.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

NONE = "-"  # no opportunity; never shown as 0
MAX_CELL = 200
WIDTH = 100  # columns to which paragraphs of plain text are wrapped

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_NUMBER = re.compile(r"[-+<]?\s?\d[\d./ %,e+-]*(?:\[.*\])?|-")


@dataclass(frozen=True)
class Table:
    """A titled table; every row has as many cells as the header. `notes` stand below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"{self.title}: a row of {len(row)} cells under {len(self.header)} headings")


class Drawn(Protocol):
    """A figure of `analysis.report.figures`: Markdown and plain text print its table."""

    @property
    def title(self) -> str: ...

    @property
    def says(self) -> str: ...

    def table(self) -> Table: ...


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, figures and tables."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Drawn, ...] = ()

    @property
    def printed(self) -> tuple[Table, ...]:
        """What stands for the section without drawings: the tables of its figures, then its own."""
        return (*(figure.table() for figure in self.figures), *self.tables)


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    paragraphs: tuple[str, ...]
    sections: tuple[Section, ...] = field(default=())


def clean(text: str) -> str:
    """One line of visible characters; white space of any kind becomes one blank."""
    flat = " ".join(text.split())
    return "".join("?" if unicodedata.category(c) in _UNSEEN else c for c in flat)


def _cell(text: str) -> str:
    shown = clean(text)
    return shown if len(shown) <= MAX_CELL else shown[: MAX_CELL - 1] + "…"


def as_text(document: Document) -> str:
    """Plain text with aligned columns; ends with a line feed."""
    lines = [*_underlined(document.title, "="), *_wrapped(document.paragraphs), ""]
    for section in document.sections:
        lines += [
            *_underlined(section.title, "-"),
            *_wrapped(section.paragraphs),
            *([""] if section.paragraphs else []),
        ]
        for table in section.printed:
            lines += [clean(table.title), *_aligned(table), *_wrapped(table.notes), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def as_markdown(document: Document) -> str:
    """GitHub-flavoured Markdown; ends with a line feed."""
    lines = [f"# {_escaped(document.title)}", "", *_spaced(document.paragraphs)]
    for section in document.sections:
        lines += [f"## {_escaped(section.title)}", "", *_spaced(section.paragraphs)]
        for table in section.printed:
            right = _right(table)
            lines += [f"### {_escaped(table.title)}", ""]
            lines += [_piped(table.header), _piped(["---:" if r else "---" for r in right], raw=True)]
            lines += [*(_piped(row) for row in table.rows), "", *_spaced(table.notes)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _underlined(title: str, mark: str) -> list[str]:
    shown = clean(title)
    return [shown, mark * _width(shown), ""]


def _wrapped(paragraphs: Sequence[str]) -> list[str]:
    return [
        line
        for text in paragraphs
        for line in textwrap.wrap(clean(text), WIDTH, break_long_words=False, break_on_hyphens=False)
    ]


def _spaced(paragraphs: Sequence[str]) -> list[str]:
    return [line for text in paragraphs for line in (_escaped(text), "")]


def _aligned(table: Table) -> list[str]:
    rows = [[_cell(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(table.header))]
    rows.insert(1, ["-" * width for width in widths])
    right = _right(table)
    return ["  ".join(_padded(c, w, r) for c, w, r in zip(row, widths, right, strict=True)).rstrip() for row in rows]


def _right(table: Table) -> list[bool]:
    """Which columns are numbers throughout and stand on the right."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    return [bool(cells) and all(_NUMBER.fullmatch(_cell(cell)) for cell in cells) for cells in columns]


def _padded(text: str, width: int, right: bool) -> str:
    gap = " " * (width - _width(text))
    return gap + text if right else text + gap


def _width(text: str) -> int:
    """Terminal columns: wide East Asian characters take two, combining marks none."""
    wide = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return wide - sum(1 for c in text if unicodedata.combining(c))


def _piped(cells: Sequence[str], *, raw: bool = False) -> str:
    return "| " + " | ".join(cell if raw else _escaped(_cell(cell)) for cell in cells) + " |"


def _escaped(text: str) -> str:
    shown = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", shown)
