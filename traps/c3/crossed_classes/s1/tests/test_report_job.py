import json
from datetime import datetime

import pytest

from tempo.cli import main
from tempo.journal import Entry, Journal
from tempo.model import Outcome

JOBS = "".join(
    f'[[job]]\nname = "{name}"\nschedule = "@daily"\ncommand = "true"\n' for name in ("mail", "stock", "new")
)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "jobs.toml").write_text(JOBS)
    journal = Journal(tmp_path / "journal.jsonl")
    for day, name in enumerate(("mail", "stock", "retired", "mail"), start=1):
        slot = datetime(2026, 7, day)
        journal.append(Entry(name, slot, slot, Outcome.OK))
    return str(tmp_path / "jobs.toml")


def names(capsys):
    return [row["name"] for row in json.loads(capsys.readouterr().out)]


def test_jobs_that_were_asked_for(file, capsys):
    assert main(["report", file, "--json", "--job", "stock", "--job", "mail"]) == 0
    assert names(capsys) == ["mail", "stock"]
    assert main(["report", file, "--json", "--job", "retired", "--job", "new"]) == 0
    assert names(capsys) == ["retired"]


def test_all_of_them_without_it(file, capsys):
    assert main(["report", file, "--json"]) == 0
    assert names(capsys) == ["mail", "retired", "stock"]


def test_the_table(file, capsys):
    assert main(["report", file, "--job", "mail"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["name", "mail"]


def test_a_name_that_nobody_knows(file, capsys):
    assert main(["report", file, "--job", "mail", "--job", "invoice"]) == 2
    assert tuple(capsys.readouterr()) == ("", "tempo: there is no job 'invoice'\n")
