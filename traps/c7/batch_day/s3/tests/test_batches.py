import re
from datetime import datetime

import pytest

from tempo.cli import main
from tempo.config import parse
from tempo.errors import ConfigError
from tempo.journal import Entry, Journal
from tempo.model import Outcome

JOBS = """
[[job]]
name = "invoices"
schedule = "@daily"
command = "true"
batch = true

[[job]]
name = "transfer"
schedule = "@daily"
command = "true"
batch = true
enabled = false

[[job]]
name = "mail"
schedule = "@daily"
command = "true"
"""


def batch_for(*args):
    from tempo.batch import batch_for

    return batch_for(datetime(*args))


def test_the_form_of_a_name():
    assert re.fullmatch(r"[^/]+/2026-09-22", batch_for(2026, 9, 22, 14))
    assert batch_for(2026, 9, 22, 14) == batch_for(2026, 9, 22, 21, 30)


def test_no_batch_on_a_weekend():
    assert batch_for(2026, 9, 19, 14) == batch_for(2026, 9, 20, 14) == batch_for(2026, 9, 21, 14)


def test_what_a_run_sees(make_runner):
    runner, _, _ = make_runner(JOBS)
    slot = datetime(2026, 9, 22, 14)
    command = runner.command(runner.config.job("invoices"), slot, 2)
    assert command.env["TEMPO_BATCH"] == batch_for(2026, 9, 22, 14)
    assert "TEMPO_BATCH" not in runner.command(runner.config.job("mail"), slot).env


def test_true_or_false():
    with pytest.raises(ConfigError, match="job 'invoices'.batch: must be true or false"):
        parse(JOBS.replace("batch = true", 'batch = "yes"', 1))


def test_the_command(tmp_path, capsys):
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS)
    assert main(["batches", str(file)]) == 0
    assert capsys.readouterr().out == "no batches\n"
    journal = Journal(tmp_path / "journal.jsonl")
    runs = [("invoices", 23, Outcome.OK), ("transfer", 22, Outcome.OK), ("mail", 22, Outcome.OK), ("invoices", 22, Outcome.FAILED)]
    for job, day, outcome in runs:
        journal.append(Entry(job, datetime(2026, 9, day, 12), datetime(2026, 9, 28), outcome))
    assert main(["batches", str(file)]) == 0
    first, second = batch_for(2026, 9, 22, 12), batch_for(2026, 9, 23, 12)
    assert capsys.readouterr().out == f"{first}  2 runs, 1 failed\n{second}  1 run, 0 failed\n"
