from datetime import date

import pytest

from quaybook.handlers import answer
from quaybook.wire import Request

MONTH = {"since": "2026-02-01", "until": "2026-03-01"}


@pytest.fixture
def february(harbour):
    for reg, berth, nights in (("NOR-4411", "A1", 2), ("DK-207", "A2", 5), ("NOR-4411", "B1", 1)):
        stay = harbour.open_stay(reg, berth, date(2026, 2, 3))
        harbour.close_stay(stay.id, date(2026, 2, 3 + nights))
    return harbour


def dues(harbour, **body):
    return answer(harbour, Request("1", "dues.list", MONTH | body))


def test_the_sum(february):
    assert dues(february).body["cents"] == 4200 + 2800 + 2100
    assert len(dues(february).body["charges"]) == 3
    assert dues(february, until="2026-02-02").body == {"charges": [], "cents": 0}


def test_one_berth(february):
    body = dues(february, berth="B1").body
    assert [charge["stay"] for charge in body["charges"]] == [3]
    assert body["cents"] == 2100
    assert [charge.stay for charge in february.charges(date(2026, 2, 1), date(2026, 3, 1), "A2")] == [2]


def test_no_such_berth(february):
    response = dues(february, berth="E9")
    assert (response.code, response.message) == ("not-found", "no berth E9")
