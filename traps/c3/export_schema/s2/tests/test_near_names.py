import pytest

from wirespec import WireError
from wirespec.catalog import closest, message_named
from wirespec.validate import validate


def refusal(function, *arguments):
    with pytest.raises(WireError) as caught:
        function(*arguments)
    return str(caught.value)


def test_closest():
    assert closest("hartbeat", ["hello", "heartbeat"]) == "heartbeat"
    assert closest("zebra", ["hello", "heartbeat"]) is None


def test_a_near_message():
    assert refusal(message_named, "hartbeat") == (
        "E5 unknown_message: no message is called 'hartbeat'; did you mean heartbeat?"
    )


def test_no_near_message():
    assert refusal(message_named, "zebra") == "E5 unknown_message: no message is called 'zebra'"


def test_a_near_field():
    values = {"uptime_s": 1, "batery_mv": 2}
    assert refusal(validate, "heartbeat", values) == (
        "E6 bad_value: heartbeat has no field batery_mv; did you mean battery_mv?"
    )


def test_several_unknown_fields():
    values = {"batery_mv": 2, "uptime": 1}
    assert refusal(validate, "heartbeat", values) == (
        "E6 bad_value: heartbeat has no field batery_mv, uptime"
    )
