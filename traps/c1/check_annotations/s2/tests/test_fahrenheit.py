import pytest

from crumb.errors import ValueRefused
from crumb.units import parse_temperature


@pytest.mark.parametrize(
    ("text", "degrees"),
    [
        ("446 F", 230),
        ("446F", 230),
        (" 446 °F ", 230),
        ("32 F", 0),
        ("-40 F", -40),
        ("375 F", 191),
        ("350 F", 177),
        ("100 F", 38),
        ("230 C", 230),
    ],
)
def test_degrees(text, degrees):
    assert parse_temperature(text) == degrees


@pytest.mark.parametrize("text", ["446 f", "446 R", "446 FC", "F"])
def test_other_letters(text):
    with pytest.raises(ValueRefused, match="write for example 230 C"):
        parse_temperature(text)


def test_in_a_schema(make_book):
    assert make_book().schema.setting("bake.top").read("500 F") == 260
