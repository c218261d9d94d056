from pathlib import Path

import pytest

from wirespec.capture import parse_capture, pick
from wirespec.cli import main
from wirespec.codec import decode

MONDAY = Path(__file__).parent / "data" / "monday.txt"
LINES = MONDAY.read_text(encoding="utf-8").splitlines()


def test_messages():
    found = list(pick(parse_capture(LINES), ["alarm", "hello"]))
    assert [decode(entry.data).name for entry in found] == ["hello", "alarm"]


def test_refused():
    assert list(pick(parse_capture(LINES), ["refused"])) == [list(parse_capture(LINES))[4]]
    assert list(pick(parse_capture(LINES), [])) == []


def test_the_command(capsys):
    assert main(["pick", str(MONDAY), "ack", "refused"]) == 0
    assert capsys.readouterr().out.splitlines() == [LINES[1], LINES[4]]


@pytest.mark.parametrize("names", [["hullo"], ["alarm", "hullo"]])
def test_unknown_names(names, capsys):
    assert main(["pick", str(MONDAY), *names]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err[:3]) == ("", "E5 ")
