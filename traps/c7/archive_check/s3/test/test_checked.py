"""The outer form of checked tables."""

import re
import subprocess
import sys

import pytest

from tabulate import tabulate

ROWS = [["oak", 36], ["ash", 41], ["elm", None]]


def test_table_and_line():
    from tabulate.checked import check_line, checked

    text = checked(ROWS, ["tree", "age"], tablefmt="grid")
    table, _, last = text.rpartition("\n")
    assert table == tabulate(ROWS, ["tree", "age"], tablefmt="grid")
    assert last == check_line(ROWS)
    assert re.fullmatch(r"-- 3 rows, check [0-9a-f]{16}", last)


def test_row_numbers():
    from tabulate.checked import check_line

    assert check_line([["a"]]).startswith("-- 1 row, check ")
    assert check_line([]).startswith("-- 0 rows, check ")


def test_matches():
    from tabulate.checked import check_line, matches

    line = check_line(ROWS)
    assert matches(f"  {line}\n", ROWS)
    assert not matches(line, ROWS[:2])
    assert not matches("-- 3 rows", ROWS)


def test_ragged_rows_are_refused():
    from tabulate.checked import check_digest

    with pytest.raises(ValueError):
        check_digest([["a", "b"], ["c"]])


def test_command_line(tmp_path):
    from tabulate.checked import checked

    path = tmp_path / "t.csv"
    path.write_text("tree,age\noak,36\nash,41\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tabulate", "--check", str(path)], capture_output=True, text=True
    )
    assert done.stdout == checked([["oak", "36"], ["ash", "41"]], ["tree", "age"]) + "\n"
