"""Headings of tables that have no rows."""

import pytest

from tabulate import tabulate

HEADERS = ["tree", "age & size"]
HTML = "<table>\n<thead>\n<tr><th>tree  </th><th>{}  </th></tr>\n</thead>\n<tbody>\n</tbody>\n</table>"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("html", HTML.format("age &amp; size")),
        ("unsafehtml", HTML.format("age & size")),
        (
            "mediawiki",
            '{| class="wikitable" style="text-align: left;"\n|+ <!-- caption -->\n|-\n! tree   !! age & size\n|-\n|}',
        ),
        ("moinmoin", "|| ''' tree   ''' || ''' age & size   ''' ||"),
        ("plain", "tree    age & size"),
        ("pipe", "| tree   | age & size   |\n|--------|--------------|"),
    ],
)
def test_headings(name, expected):
    assert tabulate([], HEADERS, tablefmt=name).split() == expected.split()


def test_with_a_row():
    shown = tabulate([["oak", 36]], HEADERS, tablefmt="html")
    assert '<th>tree  </th><th style="text-align: right;">  age &amp; size</th>' in shown


def test_nothing_at_all():
    assert tabulate([], tablefmt="html") == ""
