from datetime import datetime

import pytest

from tempo.errors import JournalError
from tempo.journal import Entry, Journal
from tempo.model import Outcome

SLOT = datetime(2026, 2, 27, 3, 0)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "journal.jsonl")


def entry(job):
    return Entry(job=job, slot=SLOT, ended=SLOT, outcome=Outcome.OK)


def jobs(journal):
    return [one.job for one in journal]


def test_a_torn_last_line_is_ignored(journal):
    journal.append(entry("a"))
    with journal.path.open("a") as stream:
        stream.write('{"job": "b", "slot": "2026-02')
    assert jobs(journal) == ["a"]


def test_append_cuts_the_torn_piece_off(journal):
    journal.append(entry("a"))
    with journal.path.open("a") as stream:
        stream.write('{"job": "b", "output": "Gr\u00fc')
    journal.append(entry("c"))
    assert jobs(journal) == ["a", "c"]
    assert len(journal.path.read_text().splitlines()) == 2


def test_a_whole_entry_without_line_end_is_kept(journal):
    journal.path.write_text(entry("a").to_line())
    assert jobs(journal) == ["a"]
    journal.append(entry("b"))
    assert jobs(journal) == ["a", "b"]


def test_a_journal_that_is_one_torn_line(journal):
    journal.path.write_text('{"job"')
    assert jobs(journal) == []
    journal.append(entry("a"))
    assert jobs(journal) == ["a"]


def test_other_damage_is_still_reported(journal):
    journal.path.write_text("{}\n" + entry("a").to_line())
    with pytest.raises(JournalError, match="line 1"):
        list(journal)
    journal.path.write_text(entry("a").to_line() + '\n{"job": "b"}\n')
    with pytest.raises(JournalError, match="line 2"):
        list(journal)
