from datetime import UTC, date, datetime

import pytest

import wirespec
from wirespec.capture import Entry, format_entry
from wirespec.cli import main
from wirespec.journal import journal

DAY = date(2026, 10, 5)


def alarm(time, severity="warning", cause=17, text="Filter", day="2026-10-05", direction="up"):
    at = datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=UTC)
    data = wirespec.encode("alarm", {"severity": severity, "cause": cause, "text": text})
    return Entry(int(at.timestamp() * 1000), direction, data)


def lines(*entries):
    text = journal(entries, DAY)
    assert text.endswith("\n")
    first, *rest = text.splitlines()
    assert first.split(";")[1:] == ["2026-10-05", str(len(rest) - 1)]
    assert first.split(";")[0]
    return rest


def test_alarms_of_the_day():
    entries = [
        alarm("23:59:59", day="2026-10-04"),
        alarm("00:00:00", "fault", 3, "Pump 2; stands still"),
        alarm("12:00:00", direction="down"),
        alarm("23:59:59", "info", 99, "Tür"),
        alarm("00:00:00", day="2026-10-06"),
    ]
    assert lines(*entries) == ["00:00:00;fault;3;Pump 2, stands still", "23:59:59;info;99;Tür", "SUM;1;0;1"]


def test_repeats():
    entries = [alarm("10:00:00"), alarm("10:00:59"), alarm("10:01:00"), alarm("10:01:10", cause=18), alarm("10:01:59")]
    assert lines(*entries) == ["10:00:00;warning;17;Filter", "10:01:00;warning;17;Filter", "10:01:10;warning;18;Filter", "SUM;0;3;0"]


def test_no_alarms():
    damaged = Entry(alarm("10:00:00").at_ms, "up", alarm("10:00:00").data[:-1])
    ack = Entry(damaged.at_ms, "up", wirespec.encode("ack", {"ref": 1}))
    assert lines(damaged, ack) == lines() == ["SUM;0;0;0"]


def test_the_command(tmp_path, capsys):
    path = tmp_path / "day.txt"
    path.write_text(format_entry(alarm("04:10:07")) + "\n", encoding="utf-8")
    assert main(["journal", str(path), "--day", "2026-10-05"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["04:10:07;warning;17;Filter", "SUM;0;1;0"]
    with pytest.raises(SystemExit) as stop:
        main(["journal", str(path), "--day", "yesterday"])
    assert stop.value.code == 2
