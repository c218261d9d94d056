from datetime import date

import pytest

from quaybook.errors import NotFound
from quaybook.handlers import answer
from quaybook.wire import Request


def show(harbour, number):
    return answer(harbour, Request("1", "stay.show", {"stay": number}))


def test_an_open_and_a_closed_stay(harbour):
    stay = harbour.open_stay("NOR-4411", "A1", date(2025, 7, 2))
    body = {"stay": 1, "reg": "NOR-4411", "berth": "A1", "opened": "2025-07-02", "closed": None, "nights": None}
    assert show(harbour, 1).body == body
    harbour.close_stay(stay.id, date(2025, 7, 11))
    assert show(harbour, 1).body == body | {"closed": "2025-07-11", "nights": 9}
    assert harbour.stay(1).closed == date(2025, 7, 11)


def test_no_such_stay(harbour):
    with pytest.raises(NotFound, match="no stay 311"):
        harbour.stay(311)
    assert (show(harbour, 311).ok, show(harbour, 311).code) == (False, "not-found")
