from datetime import datetime

import pytest

from tempo.cli import main
from tempo.journal import Entry, Journal
from tempo.model import Outcome

JOBS = """
[[job]]
name = "mail"
schedule = "@hourly"
command = "true"

[[job]]
name = "stock"
schedule = "@daily"
command = "true"

[[job]]
name = "old"
schedule = "@daily"
command = "true"
enabled = false
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "jobs.toml").write_text(JOBS)
    journal = Journal(tmp_path / "journal.jsonl")

    def write(job, hour, outcome=Outcome.OK):
        slot = datetime(2026, 6, 14, hour)
        journal.append(Entry(job, slot, slot, outcome))
        return str(tmp_path / "jobs.toml")

    return write


def test_latest_slot_of_each_job(write, capsys):
    write("mail", 9)
    write("gone", 11, Outcome.FAILED)
    file = write("mail", 7, Outcome.FAILED)
    assert main(["last", file]) == 0
    assert capsys.readouterr().out.splitlines() == ["mail  2026-06-14 09:00  ok", "stock  never", "old  never"]


def test_status_1_when_an_enabled_job_failed_last(write, capsys):
    file = write("old", 3, Outcome.FAILED)
    assert main(["last", file]) == 0
    write("stock", 3, Outcome.FAILED)
    assert main(["last", file]) == 1
    assert "stock  2026-06-14 03:00  failed" in capsys.readouterr().out


def test_the_journal_is_read_once(write, monkeypatch):
    file = write("mail", 9)
    read = []
    whole = Journal.__iter__
    monkeypatch.setattr(Journal, "__iter__", lambda self: read.append(1) or whole(self))
    assert main(["last", file]) == 0
    assert len(read) == 1
