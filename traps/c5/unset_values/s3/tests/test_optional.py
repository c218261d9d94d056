import json

import pytest

from crumb import export
from crumb.check import check
from crumb.errors import SchemaError
from crumb.resolve import resolve
from crumb.views.show import show

LIFT = """
[lift.height]
kind = "number"
optional = true
high = 90

[lift.pause]
kind = "duration"
optional = true
"""

RULES = """
[idle.temperature]
kind = "temperature"
optional = true

[bake.top]
kind = "temperature"
default = "230 C"

[steam.mode]
kind = "word"
choices = ["off", "pulse"]
default = "pulse"

[steam.seconds]
kind = "number"
optional = true
"""


def found(book, oven="pier-1"):
    return {r.setting.name: r for r in resolve(book.schema, book.layers(oven))}


@pytest.fixture
def book(make_book):
    return make_book({"ovens/pier-2.toml": 'of = "pier"\n[lift]\nheight = 40\n'}, schema=LIFT)


def test_no_value_until_a_layer_gives_one(book):
    height = found(book)["lift.height"]
    assert (height.setting.default, height.value, height.origin) == (None, None, "default")
    height = found(book, "pier-2")["lift.height"]
    assert (height.value, height.text, height.origin) == (40, "40", "ovens/pier-2.toml")


def test_limits_hold(make_book):
    book = make_book({"ovens/pier-1.toml": 'of = "pier"\n[lift]\nheight = 91\n'}, schema=LIFT)
    assert [str(p) for p in check(book)] == ["ovens/pier-1.toml:3: error: lift.height: 91 is above 90"]


def test_people_read_a_dash(book, crumb, tmp_path):
    assert show(list(found(book).values())) == ["lift.height  -  default", "lift.pause   -  default"]
    _, out, _ = crumb(tmp_path / "book", "diff", "pier-1", "pier-2")
    assert out == "lift.height  -  40\n"
    assert crumb(tmp_path / "book", "show", "pier-1", "--changed") == (0, "", "")


def test_exports_keep_the_name(book):
    settings = list(found(book, "pier-2").values())
    panel = json.loads(export.render("panel", "pier-2", settings))["settings"]
    assert list(panel) == ["lift.height", "lift.pause"]
    assert panel["lift.height"] == "40"
    assert panel["lift.pause"]
    lines = export.render("plc", "pier-2", settings).split("\r\n")
    assert lines[:2] == ["OVEN=pier-2", "LIFT_HEIGHT=40"]
    assert lines[2].startswith("LIFT_PAUSE=")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("optional = true\ndefault = 1", "an optional setting has no default"),
        ("optional = 1", "optional is true or false"),
        ("optional = false", "default is missing"),
    ],
)
def test_mistakes(make_book, line, message):
    with pytest.raises(SchemaError) as caught:
        make_book(schema=f'[a]\nkind = "number"\n{line}\n')
    assert str(caught.value) == f"schema.toml: a: {message}"


def test_rules_need_both_values(make_book):
    assert check(make_book(schema=RULES)) == []
    book = make_book({"shops/pier.toml": 'of = "coast"\n[steam]\nseconds = 0\n'}, schema=RULES)
    assert len(check(book)) == 2
