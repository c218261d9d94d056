from datetime import date

import pytest

from quaybook.errors import Conflict, NotFound
from quaybook.handlers import answer
from quaybook.tariff import HOME, TRANSIT
from quaybook.wire import Request

DAY = date(2025, 6, 2)


@pytest.fixture
def stay(harbour):
    return harbour.open_stay("NOR-4411", "A1", DAY)


def test_the_stay_goes_on_at_another_berth(harbour, stay):
    shifted = harbour.shift(stay.id, "B1")
    assert (shifted.id, shifted.berth, shifted.opened, shifted.dues_class) == (stay.id, "B1", DAY, TRANSIT)
    assert harbour.open_stays() == [shifted]
    assert harbour.board() == [f"B1   Gannet             {TRANSIT} 02.06."]
    assert harbour.close_stay(stay.id, date(2025, 6, 9)).cents == 6 * 2100


def test_refused_as_an_arrival_is(harbour, stay):
    harbour.open_stay("DK-207", "B1", DAY)
    with pytest.raises(Conflict, match="berth B1 is taken"):
        harbour.shift(stay.id, "B1")
    with pytest.raises(Conflict, match="too long for berth A2"):
        harbour.shift(stay.id, "A2")
    with pytest.raises(NotFound, match="no berth Z1"):
        harbour.shift(stay.id, "Z1")
    with pytest.raises(Conflict, match="Gannet lies at berth A1"):
        harbour.shift(stay.id, "A1")
    assert sorted(harbour.board()) == [f"A1   Gannet             {TRANSIT} 02.06.", f"B1   Ada                {HOME} 02.06."]


def test_only_open_stays_are_shifted(harbour, stay):
    harbour.close_stay(stay.id, DAY)
    with pytest.raises(Conflict, match="was closed"):
        harbour.shift(stay.id, "B1")
    with pytest.raises(NotFound):
        harbour.shift(99, "B1")


def test_the_verb(harbour, stay):
    response = answer(harbour, Request("1", "stay.shift", {"stay": stay.id, "berth": "B1"}))
    assert (response.ok, response.body) == (True, {"stay": stay.id, "berth": "B1"})
