"""Tables whose cells know their headings; the prefix is not looked at."""

import pytest

from tabulate.linked import ID_PREFIX, linked_html, linked_page, row_link


def plain(text):
    return text.replace(ID_PREFIX, "P").split("\n")


def test_a_table():
    assert plain(linked_html([["oak", 36]], ["tree", "age"], 1, "Trees")) == [
        '<table id="P-1">',
        "<caption>Trees</caption>",
        "<thead>",
        '<tr><th id="P-1-c1" scope="col">tree</th><th id="P-1-c2" scope="col">age</th></tr>',
        "</thead>",
        "<tbody>",
        '<tr><th id="P-1-r1" scope="row" headers="P-1-c1">oak</th><td headers="P-1-c2 P-1-r1">36</td></tr>',
        "</tbody>",
        "</table>",
    ]


def test_cells():
    shown = plain(linked_html([["<b>", None, '"']], ["a", "&", "c"], 7, "1 < 2"))
    assert shown[1] == "<caption>1 &lt; 2</caption>"
    assert '<th id="P-7-c2" scope="col">&amp;</th>' in shown[3]
    assert shown[6] == (
        '<tr><th id="P-7-r1" scope="row" headers="P-7-c1">&lt;b&gt;</th>'
        '<td headers="P-7-c2 P-7-r1"></td><td headers="P-7-c3 P-7-r1">&quot;</td></tr>'
    )


def test_without_caption_or_rows():
    assert plain(linked_html([], ["a"], 2))[:3] == ['<table id="P-2">', "<thead>", '<tr><th id="P-2-c1" scope="col">a</th></tr>']


def test_a_page():
    one, two = ([["x"]], ["a"], "One"), ([["y"]], ["b"], None)
    assert linked_page([one, two]) == linked_html([["x"]], ["a"], 1, "One") + "\n\n" + linked_html([["y"]], ["b"], 2)
    assert linked_page([]) == ""


def test_links():
    assert row_link(3, 12) == f"#{ID_PREFIX}-3-r12"


@pytest.mark.parametrize("call", [lambda: row_link(0, 1), lambda: row_link(1, 0), lambda: linked_html([], ["a"], 0)])
def test_numbers_from_one(call):
    with pytest.raises(ValueError):
        call()


def test_a_row_of_another_length():
    with pytest.raises(ValueError, match="^row 2 has 3 cells, not 4$"):
        linked_html([[1, 2, 3, 4], [1, 2, 3]], ["a", "b", "c", "d"], 1)
