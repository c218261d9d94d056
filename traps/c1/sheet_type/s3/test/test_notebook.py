"""Tables as notebooks take them; the panel's name is not looked at."""

import re
from decimal import Decimal

from tabulate import tabulate
from tabulate.notebook import PANEL_KIND, Table, bundle

ROWS = [["oak", 36], ["ash", None]]


def test_the_kinds():
    assert list(bundle(ROWS)) == ["text/plain", "text/html", PANEL_KIND]
    assert re.fullmatch(r"application/[a-z0-9.-]+\+json", PANEL_KIND)


def test_texts():
    found = bundle(ROWS, ["tree", "age"])
    assert found["text/plain"] == tabulate(ROWS, ["tree", "age"])
    assert found["text/html"] == tabulate(ROWS, ["tree", "age"], tablefmt="html")
    assert type(found["text/html"]) is str


def test_data():
    rows = [["oak", 36, True], ["ash", None, Decimal("1.50")]]
    assert bundle(rows, ["tree", 1, "x"])[PANEL_KIND] == {
        "columns": ["tree", "1", "x"],
        "rows": [["oak", 36, True], ["ash", None, "1.50"]],
    }
    assert bundle(rows)[PANEL_KIND]["columns"] == []


def test_a_dict_of_columns():
    found = bundle({"tree": ["oak", "ash"], "age": [36, 41]}, "keys")[PANEL_KIND]
    assert found == {"columns": ["tree", "age"], "rows": [["oak", 36], ["ash", 41]]}


def test_a_choice_of_kinds():
    assert list(bundle(ROWS, include=["text/html", "image/png"])) == ["text/html"]
    assert list(bundle(ROWS, exclude={"text/html"})) == ["text/plain", PANEL_KIND]
    assert bundle(ROWS, include=["text/html"], exclude=["text/html"]) == {}


def test_the_last_line_of_a_cell():
    table = Table(iter(ROWS), ["tree", "age"])
    assert str(table) == tabulate(ROWS, ["tree", "age"])
    for _ in range(2):
        assert table._repr_mimebundle_() == bundle(ROWS, ["tree", "age"])
    assert list(table._repr_mimebundle_(include=[PANEL_KIND], exclude=None)) == [PANEL_KIND]
