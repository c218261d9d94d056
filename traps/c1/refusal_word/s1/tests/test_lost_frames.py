import pytest

import wirespec
from wirespec.capture import Entry
from wirespec.report import render_text, summarise


def up(sequence, name="ack", values=None):
    return Entry(0, "up", wirespec.encode(name, values or {"ref": 1}, sequence=sequence))


HELLO = {"unit": "PW-7", "firmware": 1, "boots": 1}


@pytest.mark.parametrize(
    ("numbers", "lost"),
    [([], 0), ([7], 0), ([7, 8, 9], 0), ([7, 9], 1), ([7, 10, 14], 5), ([65534, 1], 2), ([9, 9], 0), ([9, 4], 0)],
)
def test_missing_numbers(numbers, lost):
    assert summarise(map(up, numbers)).lost == lost


def test_a_thousand_and_more():
    assert summarise([up(0), up(1001)]).lost == 1000
    assert summarise([up(0), up(1002)]).lost == 0


def test_hello_begins_a_count():
    assert summarise([up(5), up(9, "hello", HELLO), up(10)]).lost == 0


def test_other_direction_and_damage():
    damaged = Entry(0, "up", up(6).data[:-1] + b"\x00")
    down = Entry(0, "down", up(40).data)
    assert summarise([up(5), down, damaged, up(7)]).lost == 1


def test_the_text():
    alarm = up(9, "alarm", {"severity": "info", "cause": 1, "text": "Filter"})
    assert render_text(summarise([up(5), alarm])).splitlines()[-2:] == ["  lost: 3", "  ! Filter"]
    assert "lost" not in render_text(summarise([up(5), up(6)]))
