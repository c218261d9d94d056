"""Renderings of a document: aligned, and harmless whatever a cell holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.report.layout import MAX_CELL, Document, Section, Table, as_markdown, as_text


def document(*rows: tuple[str, ...]) -> Document:
    table = Table("T", ("name", "n"), rows, ("a note",))
    return Document("Title", ("First.",), (Section("Part", tables=(table,)),))


def test_plain_text() -> None:
    assert as_text(document(("a", "1"), ("日本", "20"), ("b", "-"))) == (
        "Title\n=====\n\nFirst.\n\nPart\n----\n\nT\nname   n\n----  --\na      1\n日本  20\nb      -\na note\n"
    )


def test_markdown() -> None:
    assert as_markdown(document(("a", "1"))) == (
        "# Title\n\nFirst.\n\n## Part\n\n### T\n\n| name | n |\n| --- | ---: |\n| a | 1 |\n\na note\n"
    )


def test_text_columns_stand_left() -> None:
    assert "a     x\n" in as_text(document(("a", "x"), ("b", "1")))


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells under 2 headings"):
        document(("a",))


HOSTILE = "x\x1b[2J\n| y\r\n# z `q` <script>[l](m)\u202e"


def test_hostile_cells_stay_in_their_place() -> None:
    text, markdown = as_text(document((HOSTILE, "1"))), as_markdown(document((HOSTILE, "1")))
    assert "x?[2J | y # z `q` <script>[l](m)?  1\n" in text
    assert r"| x?\[2J \| y \# z \`q\` &lt;script&gt;\[l\](m)? | 1 |" in markdown


@given(st.text(max_size=300))
def test_any_text_is_one_row(cell: str) -> None:
    plain = as_text(document((cell, "1")))
    assert len(plain.splitlines()) == len(as_text(document(("a", "1"))).splitlines())
    assert "\x1b" not in plain
    (row,) = [line for line in as_markdown(document((cell, "777"))).splitlines() if line.endswith("| 777 |")]
    assert len(row) < 6 * MAX_CELL


def test_a_long_cell_is_cut_and_a_note_is_not() -> None:
    long = "w" * 900
    table = Table("T", ("c",), ((long,),), (long,))
    lines = as_text(Document("D", (), (Section("S", tables=(table,)),))).splitlines()
    assert lines[-1] == long
    assert lines[-2] == "w" * (MAX_CELL - 1) + "…"
