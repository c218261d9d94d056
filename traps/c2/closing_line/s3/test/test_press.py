"""Sheets for the printers; the name of the line is not looked at."""

from decimal import Decimal

import pytest

from tabulate.press import CLOSING_LINE, press_bytes, press_sheet

HEADERS = ["tree", "felled", "metres"]
ROWS = [["oak", 36, 12.5], ["ash", 41, None]]


def test_a_sheet():
    assert press_sheet(ROWS, HEADERS, "Total") == [
        "TABLE|3",
        "HEAD|tree|felled|metres",
        "ROW|oak|36|12.5",
        "ROW|ash|41|",
        f"LINE|{CLOSING_LINE}",
        "SUM|Total|77|12.5",
        "END|2",
    ]


def test_without_a_sum():
    assert press_sheet([], ["a"]) == ["TABLE|1", "HEAD|a", "END|0"]
    assert press_sheet([["x", 1]], ["a", "b"]) == ["TABLE|2", "HEAD|a|b", "ROW|x|1", "END|1"]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([1, None, 2], "3"),
        ([0.1, 0.2], "0.3"),
        ([Decimal("1.50"), 2], "3.50"),
        ([1, True], ""),
        ([1, "2"], ""),
        ([None, None], ""),
        ([], ""),
    ],
)
def test_sums(cells, found):
    sheet = press_sheet([["x", cell] for cell in cells], ["a", "b"], "All")
    assert sheet[-2] == f"SUM|All|{found}"


def test_cells():
    sheet = press_sheet([["a|b", " C:\\new \n file "]], ["one\ttwo", "|"])
    assert sheet[1:3] == ["HEAD|one two|\\|", "ROW|a\\|b|C:\\\\new file"]


def test_a_row_of_another_length():
    with pytest.raises(ValueError, match="^row 2 has 3 cells, not 4$"):
        press_sheet([[1, 2, 3, 4], [1, 2, 3]], ["a", "b", "c", "d"])


def test_bytes():
    found = press_bytes([([["Müller", "5 €"]], ["a", "b"], None), ([], ["c"], None)])
    assert found == (
        b"TABLE|2\r\nHEAD|a|b\r\nROW|M\xfcller|5 &#8364;\r\nEND|1\r\nTABLE|1\r\nHEAD|c\r\nEND|0\r\n"
    )
