import json
from datetime import datetime

import pytest

from tempo.cli import main
from tempo.journal import Entry, Journal
from tempo.model import Outcome

JOBS = """
[[job]]
name = "mail"
schedule = "0 */6 * * *"
command = "true"

[[job]]
name = "invoices"
schedule = "0 6 * * *"
command = "true"

[[job]]
name = "old"
schedule = "@hourly"
command = "true"
enabled = false
"""


@pytest.fixture
def desk(tmp_path, capsys):
    (tmp_path / "jobs.toml").write_text(JOBS)

    class Desk:
        def ran(self, job, hour, outcome=Outcome.OK, attempts=1):
            slot = datetime(2026, 7, 19, hour)
            Journal(tmp_path / "journal.jsonl").append(Entry(job, slot, slot, outcome, attempts))

        def alarms(self, *more):
            words = ["alarms", str(tmp_path / "jobs.toml"), "--since", "2026-07-19T06:00"]
            status = main([*words, "--at", "2026-07-19T18:05", *more])
            rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
            assert all(list(row) == ["class", "job", "slot", "text"] for row in rows)
            return status, rows

    return Desk()


def told(rows):
    return [(row["job"], row["slot"][11:], row["text"]) for row in rows]


def test_failed_and_missed(desk):
    desk.ran("mail", 0, Outcome.FAILED)
    desk.ran("mail", 6, Outcome.FAILED, attempts=3)
    desk.ran("old", 7, Outcome.FAILED)
    status, rows = desk.alarms()
    assert status == 1
    expected = [("mail", "06:00", "failed after 3 attempts"), ("invoices", "06:00", "not run"), ("mail", "12:00", "not run")]
    assert told(rows) == expected
    assert rows[0]["class"] != rows[1]["class"] == rows[2]["class"]


def test_the_grace(desk):
    for job, hour in (("mail", 6), ("mail", 12), ("invoices", 6)):
        desk.ran(job, hour)
    assert desk.alarms() == (0, [])
    assert told(desk.alarms("--grace", "5")[1]) == [("mail", "18:00", "not run")]
    assert told(desk.alarms("--grace", "6")[1]) == []


def test_a_second_run_counts(desk):
    for hour in (6, 12):
        desk.ran("mail", hour, Outcome.FAILED)
    desk.ran("mail", 6)
    desk.ran("invoices", 6, Outcome.FAILED)
    rows = desk.alarms()[1]
    assert told(rows) == [("invoices", "06:00", "failed after 1 attempt"), ("mail", "12:00", "failed after 1 attempt")]


def test_a_time_ahead(desk, tmp_path, capsys):
    words = ["alarms", str(tmp_path / "jobs.toml"), "--since", "2026-07-20", "--at", "2026-07-19"]
    assert main(words) == 2
    assert "tempo: the time lies ahead" in capsys.readouterr().err
