import pytest

from crumb.errors import ValueRefused
from crumb.units import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1:20", 4800),
        ("0:22", 1320),
        (" 1:20 ", 4800),
        ("0:00:45", 45),
        ("10:05:01", 36301),
        ("30:00", 108_000),
        ("1 h 20 m", 4800),
    ],
)
def test_as_the_display_shows_them(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["22", "1:2", "1:60", "1:20:60", ":20", "1:20 m", "1:20:30:40", "-1:20", "1 : 20"])
def test_not_durations(text):
    with pytest.raises(ValueRefused, match="is not a duration"):
        parse_duration(text)


def test_in_a_layer(crumb, own_book):
    assert "bake.time         40 m   --set" in crumb(own_book, "show", "mill-1", "--set", "bake.time=0:40")[1]
