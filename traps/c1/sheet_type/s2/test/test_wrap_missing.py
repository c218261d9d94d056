"""Wrapping meets cells that are no text."""

from tabulate import tabulate


def lines(*args, **kwargs):
    return tabulate(*args, tablefmt="plain", **kwargs).splitlines()


def test_a_missing_cell():
    rows = [["oak", None], ["ash tree", "felled in May"]]
    assert lines(rows, maxcolwidths=[5, 7]) == ["oak", "ash   felled", "tree  in May"]


def test_missingval_is_kept_whole():
    rows = [["oak", None], ["ash", "felled"]]
    assert lines(rows, maxcolwidths=4, missingval="not known") == ["oak  not known", "ash  fell", "     ed"]


def test_bytes():
    assert lines([[b"felled in May"]], maxcolwidths=6) == ["felled", "in May"]


def test_text_is_wrapped_as_before():
    assert lines([["felled in May", 1234567]], maxcolwidths=6) == ["felled  1234567", "in May"]
