import pytest

import wirespec
from wirespec.cli import main
from wirespec.selftest import frames, is_selftest


def decoded(*arguments):
    return [wirespec.decode(data) for data in frames(*arguments)]


def test_what_is_sent():
    sent = decoded(2, 600)
    assert [frame.name for frame in sent] == ["hello", "reading", "reading", "ack"]
    assert [frame.sequence for frame in sent] == [0, 1, 2, 3]
    assert sent[0].values["firmware"] == sent[0].values["boots"] == 0
    assert sent[2].values == {"channel": 15, "taken_at": 720, "value": 2000}
    assert sent[3].values == {"ref": 0}


@pytest.mark.parametrize("count", [0, -1, 51])
def test_count_is_limited(count):
    with pytest.raises(wirespec.WireError, match="bad_value.*count"):
        frames(count)


def test_recognised():
    hello, reading, *_ = frames()
    assert is_selftest(hello)
    assert not is_selftest(reading)
    assert not is_selftest(hello[:-1])
    other = wirespec.encode("hello", {"unit": "PW-7", "firmware": 0, "boots": 0})
    assert not is_selftest(other)


def test_command(capsys):
    assert main(["selftest", "--count", "1", "--start", "60"]) == 0
    lines = capsys.readouterr().out.split()
    assert [bytes.fromhex(line) for line in lines] == frames(1, 60)
    assert main(["selftest", "--count", "0"]) == 2
