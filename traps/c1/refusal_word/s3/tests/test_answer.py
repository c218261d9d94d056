import binascii
from pathlib import Path

import pytest

import wirespec
from wirespec.answer import answer
from wirespec.cli import main

MONDAY = Path(__file__).parent / "data" / "monday.txt"


def sealed(head: bytes) -> bytes:
    return head + binascii.crc_hqx(head, 0xFFFF).to_bytes(2, "big")


def test_a_good_frame_is_acknowledged():
    data = wirespec.encode("heartbeat", {"uptime_s": 1, "battery_mv": 2}, sequence=513)
    assert answer(data, 9) == wirespec.encode("ack", {"ref": 513}, sequence=9)


@pytest.mark.parametrize("name", ["ack", "reject"])
def test_answers_are_not_answered(name):
    values = {"ref": 1} if name == "ack" else {"ref": 1, "code": 2, "detail": ""}
    assert answer(wirespec.encode(name, values)) is None


@pytest.mark.parametrize("data", [b"", b"WS\x03\x00\x00\x30\x00\x01\x00", b"XS\x03\x00\x00\x30\x00\x01\x00\x00\x00\x00"])
def test_nothing_to_refer_to(data):
    assert answer(data) is None


def test_refusals():
    good = wirespec.encode("ack", {"ref": 1}, sequence=7)
    frame = wirespec.decode(answer(good[:-1]))
    assert (frame.name, frame.values) == ("reject", {"ref": 7, "code": 3, "detail": "send again"})
    frame = wirespec.decode(answer(sealed(b"WS\x03\x00\x00\x20\x00\x07\x00\x03\x09\x00\x01")))
    assert frame.values == {"ref": 7, "code": 6, "detail": "mode: 9 is no Mode"}
    frame = wirespec.decode(answer(sealed(b"WS\x03\x00\x00\x7f\x00\x07\x00\x00")))
    assert (frame.values["ref"], frame.values["code"]) == (7, 5)


def test_urgent():
    assert wirespec.decode(answer(wirespec.encode("alarm", {"severity": 0, "cause": 1, "text": ""}, urgent=True))).urgent
    assert wirespec.decode(answer(sealed(b"WS\x03\x01\x00\x7f\x00\x07\x00\x00"))).urgent


def test_the_command(capsys):
    assert main(["answers", str(MONDAY)]) == 0
    lines = capsys.readouterr().out.splitlines()
    frames = [wirespec.decode(bytes.fromhex(line.split(" ")[2])) for line in lines]
    assert [line[:15] for line in lines[:2]] == ["1765180800000 <", "1765180801000 <"]
    assert [frame.sequence for frame in frames] == [0, 1, 2, 3, 4, 5]
    assert [frame.name for frame in frames] == ["ack", "ack", "ack", "reject", "ack", "ack"]
