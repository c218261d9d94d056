import json
from datetime import datetime, timedelta

import pytest

from tempo.cli import main
from tempo.journal import Entry, Journal
from tempo.model import Outcome
from tempo.report import within

START = datetime(2026, 2, 26)
ENTRIES = [
    Entry(f"job{hours}", START + timedelta(hours=hours), START + timedelta(hours=hours), Outcome.OK)
    for hours in (0, 6, 30, 12)
]


def names(since, until):
    return [entry.job for entry in within(ENTRIES, since, until)]


def test_both_ends():
    assert names(START, START + timedelta(hours=12)) == ["job0", "job6"]


def test_open_ends():
    assert names(None, None) == ["job0", "job6", "job30", "job12"]
    assert names(START + timedelta(hours=1), None) == ["job6", "job30", "job12"]
    assert names(None, START) == []


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text("")
    for entry in ENTRIES:
        Journal(tmp_path / "journal.jsonl").append(entry)
    return path


def test_the_options(file, capsys):
    period = ["--since", "2026-02-26T01:00", "--until", "2026-02-27"]
    assert main(["report", str(file), "--json", *period]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["job12", "job6"]


def test_a_period_that_runs_backwards(file, capsys):
    assert main(["report", str(file), "--since", "2026-02-27", "--until", "2026-02-26"]) == 2
    assert capsys.readouterr().err == "tempo: the period ends before it begins\n"
