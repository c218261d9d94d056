from datetime import datetime

import pytest

from tempo.cli import main
from tempo.config import parse
from tempo.errors import TempoError

JOBS = """
[[job]]
name = "stock, small"
schedule = "0 6 * * *"
command = "true"
timeout = 61

[[job]]
name = "mail"
schedule = "0 */6 * * *"
command = "true"
timeout = 600

[[job]]
name = "often"
schedule = "*/10 * * * *"
command = "true"
"""
NOW = datetime(2026, 6, 22, 1, 15, 40)


def feed(*args):
    from tempo.feed import feed

    return feed(*args)


def values(lines, name):
    return [line.partition(":")[2] for line in lines if line.startswith(name + ":")]


def test_entries_of_one_day():
    lines = feed(parse(JOBS).jobs, NOW, 1)
    assert lines[:4] == ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tempo//feed//EN", "BEGIN:VEVENT"]
    assert lines[-2:] == ["END:VEVENT", "END:VCALENDAR"]
    assert values(lines, "DTSTART") == [f"202606{day}T{hour}0000" for day, hour in
                                        [("22", "06"), ("22", "06"), ("22", "12"), ("22", "18"), ("23", "00")]]
    assert values(lines, "SUMMARY") == ["stock\\, small", "mail", "mail", "mail", "mail"]
    assert values(lines, "DURATION")[:2] == ["PT2M", "PT10M"]
    assert set(values(lines, "DTSTAMP")) == {"20260622T011500"}
    left, at, right = values(lines, "UID")[1].partition("@")
    assert (left, at) == ("mail-20260622T0600", "@")
    assert right
    assert len(set(values(lines, "UID"))) == 5


def test_less_than_a_day():
    with pytest.raises(TempoError, match="a feed has at least one day"):
        feed(parse(JOBS).jobs, NOW, 0)


def test_the_command(tmp_path, capsys):
    file, out = tmp_path / "jobs.toml", tmp_path / "runs.ics"
    file.write_text(JOBS.replace('"mail"', '"' + "mail für alle " * 8 + '"'), encoding="utf-8")
    assert main(["feed", str(file), str(out), "--at", "2026-06-22T01:15"]) == 0
    assert capsys.readouterr().out == f"35 entries in {out}\n"
    data = out.read_bytes()
    assert data.endswith(b"END:VCALENDAR\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    pieces = data.decode("utf-8").split("\r\n")
    assert max(len(piece.encode()) for piece in pieces) <= 75
    assert data.replace(b"\r\n ", b"").count(("SUMMARY:" + "mail für alle " * 8).encode()) == 28
