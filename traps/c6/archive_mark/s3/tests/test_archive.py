import json
from datetime import datetime, timedelta

import pytest

from tempo.cli import main
from tempo.errors import TempoError
from tempo.journal import Entry, Journal
from tempo.model import Outcome

YEAR = datetime(2026, 1, 1)


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    for hours in (-30, 5, -2, 0):
        slot = YEAR + timedelta(hours=hours)
        journal.append(Entry(f"job{hours}", slot, slot, Outcome.OK))
    return journal


def test_old_entries_move_and_the_rest_stays(journal):
    archive = journal.archive(YEAR)
    assert archive == journal.path.with_name("journal-20260101.jsonl")
    assert [entry.job for entry in journal] == ["job5", "job0"]
    header, *lines = archive.read_text().splitlines()
    assert set(json.loads(header)) == {"archive", "before", "entries"}
    assert json.loads(header)["before"] == "2026-01-01T00:00:00"
    assert json.loads(header)["entries"] == 2
    assert [Entry.from_line(line).job for line in lines] == ["job-30", "job-2"]


def test_nothing_to_move(journal):
    before = journal.path.read_bytes()
    assert journal.archive(YEAR - timedelta(days=30)) is None
    assert journal.path.read_bytes() == before
    assert len(list(journal.path.parent.iterdir())) == 1


def test_an_archive_is_not_overwritten(journal):
    journal.path.with_name("journal-20260101.jsonl").write_text("precious")
    before = journal.path.read_bytes()
    with pytest.raises(TempoError, match="journal-20260101.jsonl exists already"):
        journal.archive(YEAR)
    assert journal.path.read_bytes() == before


def test_the_command(journal, capsys):
    file = journal.path.with_name("jobs.toml")
    file.write_text("")
    assert main(["archive", str(file), "--before", "2026-01-01"]) == 0
    assert main(["archive", str(file), "--before", "2026-01-01"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "archived 2 entries to journal-20260101.jsonl",
        "nothing before 2026-01-01T00:00",
    ]
