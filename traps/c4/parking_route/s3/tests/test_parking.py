import pytest

import wirespec
from wirespec import routes

ACK = wirespec.encode("ack", {"ref": 1})


def test_good_frames_go_where_their_message_goes():
    assert routes.target_for(ACK) == "units.receipts"
    assert routes.target_for(wirespec.encode("ack", {"ref": 1}, urgent=True)) == "alarms.page"


@pytest.mark.parametrize("data", [b"XX" + ACK[2:], ACK + b"\x00"])
def test_refused_frames_are_parked(data):
    assert routes.target_for(data) == routes.PARKING_ROUTE


def test_nothing_is_published_while_a_retry_may_help():
    assert routes.target_for(ACK[:-1]) is None
    assert routes.target_for(ACK[:-1] + bytes([ACK[-1] ^ 1])) is None


def test_bulk_is_parked_while_its_route_is_down():
    assert routes.resolve("log_chunk", ["telemetry.bulk"]) == routes.PARKING_ROUTE


def test_table_ends_with_the_refused_frames():
    assert routes.table()[-1] == ("(refused)", routes.PARKING_ROUTE, "none")


def test_the_parking_route_is_a_route_of_its_own():
    assert routes.PARKING_ROUTE not in {*routes.ROUTES.values(), routes.URGENT_ROUTE}
