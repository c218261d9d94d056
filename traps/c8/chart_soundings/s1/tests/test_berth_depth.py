import pytest

from quaybook._places import PLACES
from quaybook.errors import NotFound
from quaybook.handlers import answer
from quaybook.wire import Request


def ask(harbour, berth):
    return answer(harbour, Request("1", "berth.depth", {"berth": berth}))


def test_what_the_chart_says(harbour):
    place = PLACES["B1"]
    assert ask(harbour, "B1").body == {"berth": "B1", "depth_cm": place.depth_cm, "since": place.since}
    assert harbour.depth("B1") == place


def test_the_chart_knows_berths_that_are_not_in_the_book(harbour):
    assert ask(harbour, "E2").body["depth_cm"] == PLACES["E2"].depth_cm


def test_not_on_the_chart(harbour):
    with pytest.raises(NotFound, match="berth Z9 is not on the chart"):
        harbour.depth("Z9")
    assert ask(harbour, "Z9").code == "not-found"
