import pytest

from parcels.labels import render_label
from parcels.model import Address


def inside(text):
    return [line[2:-2].rstrip() for line in text.splitlines()[1:-1]]


def test_a_long_line_goes_on_below(make_parcel):
    to = Address("Gesellschaft für Feinmechanik und Optik Kiel mbH", "Kai 2", "24103", "Kiel")
    lines = inside(render_label(make_parcel(recipient=to), 40))
    start = lines.index("To:")
    assert lines[start + 1 : start + 4] == [
        "  Gesellschaft für Feinmechanik und",
        "    Optik Kiel mbH",
        "  Kai 2",
    ]


def test_it_may_take_three_lines(make_parcel):
    to = Address("Ada Brandt", "Alte Straße am neuen Markt hinter der Kirche 3", "1", "X")
    lines = inside(render_label(make_parcel(recipient=to), 28))
    start = lines.index("  Ada Brandt")
    assert lines[start + 1 : start + 4] == [
        "  Alte Straße am neuen",
        "    Markt hinter der",
        "    Kirche 3",
    ]


def test_a_word_that_fits_no_line_is_clipped(make_parcel):
    to = Address("Donaudampfschifffahrtsgesellschaft", "Kai 2", "24103", "Kiel")
    lines = inside(render_label(make_parcel(recipient=to), 24))
    assert "  Donaudampfschifff…" in lines


@pytest.mark.parametrize("width", [24, 31, 40])
def test_the_frame_holds(make_parcel, width):
    to = Address("eins zwei drei vier " * 4, "Donaudampfschifffahrtsgesellschaft 3", "1", "X")
    text = render_label(make_parcel(recipient=to), width)
    assert {len(line) for line in text.splitlines()} == {width}


def test_short_addresses_look_as_before(make_parcel):
    lines = inside(render_label(make_parcel()))
    assert lines[lines.index("To:") + 1 :][:4] == [
        "  Ada Brandt",
        "  Hafenweg 3",
        "  20457 Hamburg",
        "  DE",
    ]
