from datetime import date

import pytest

from quaybook.errors import BadRequest, Conflict, InsuranceLapsed, NotFound
from quaybook.handlers import answer
from quaybook.model import Vessel
from quaybook.wire import Request


@pytest.fixture
def gannet(harbour):
    harbour.register(Vessel("NOR-4411", "Gannet", 1180, insured_until=date(2026, 2, 10)))
    return harbour


def test_the_last_day_is_fine(gannet):
    assert gannet.open_stay("NOR-4411", "A1", date(2026, 2, 10)).id == 1


def test_the_day_after_is_not(gannet):
    with pytest.raises(InsuranceLapsed) as caught:
        gannet.open_stay("NOR-4411", "A1", date(2026, 2, 11))
    assert str(caught.value) == "Gannet was insured until 2026-02-10"
    assert gannet.open_stays() == []
    assert gannet.board() == []


def test_the_other_refusals_come_first(gannet):
    with pytest.raises(Conflict, match="too long"):
        gannet.open_stay("NOR-4411", "A2", date(2026, 2, 11))


def test_the_response_has_a_code_of_its_own(gannet):
    body = {"reg": "NOR-4411", "berth": "A1", "day": "2026-02-11"}
    response = answer(gannet, Request("1", "stay.open", body))
    assert (response.ok, response.code) == (False, InsuranceLapsed.code)
    assert InsuranceLapsed.code not in {BadRequest.code, Conflict.code, NotFound.code, ""}
    assert issubclass(InsuranceLapsed, Conflict)


def test_whom_the_harbour_hand_calls_on(gannet):
    gannet.open_stay("NOR-4411", "A1", date(2026, 2, 1))
    gannet.open_stay("DK-207", "A2", date(2026, 2, 1))

    def lapsed(day):
        return answer(gannet, Request("1", "vessel.lapsed", {"day": day})).body["vessels"]

    assert lapsed("2026-02-10") == []
    assert lapsed("2026-02-11") == [{"reg": "NOR-4411", "berth": "A1", "insured_until": "2026-02-10"}]
