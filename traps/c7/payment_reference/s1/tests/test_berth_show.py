from datetime import date

import pytest

from quaybook.errors import NotFound
from quaybook.handlers import answer
from quaybook.model import Berth
from quaybook.wire import Request

DAY = date(2025, 6, 2)


def test_a_free_berth(harbour):
    assert harbour.at("A2") == (Berth("A2", 800), None)
    response = answer(harbour, Request("1", "berth.show", {"berth": "A2"}))
    assert response.body == {"berth": "A2", "max_cm": 800, "stay": None}


def test_a_taken_berth(harbour):
    harbour.close_stay(harbour.open_stay("NOR-4411", "A1", DAY).id, DAY)
    stay = harbour.open_stay("DK-207", "A1", DAY)
    assert harbour.at("A1") == (Berth("A1", 1200), stay)
    response = answer(harbour, Request("1", "berth.show", {"berth": "A1"}))
    assert response.body["stay"] == {"stay": 2, "reg": "DK-207", "name": "Ada", "opened": "2025-06-02"}


def test_an_unknown_berth(harbour):
    with pytest.raises(NotFound, match="no berth A9"):
        harbour.at("A9")
