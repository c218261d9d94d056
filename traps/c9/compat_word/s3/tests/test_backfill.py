from datetime import datetime

import pytest

from tempo.cli import main
from tempo.errors import TempoError
from tempo.journal import Journal
from tempo.model import Outcome

JOBS = """
[[job]]
name = "sixhourly"
schedule = "0 */6 * * *"
command = ["sh", "-c", "[ $TEMPO_SLOT != 2026-04-18T12:00 ]"]

[[job]]
name = "off"
schedule = "@daily"
command = "true"
enabled = false
"""

START, END = datetime(2026, 4, 18), datetime(2026, 4, 19)


def hours(entries):
    return [entry.slot.hour for entry in entries]


def test_missed_slots_oldest_first(make_runner):
    runner, _, _ = make_runner(JOBS)
    job = runner.config.job("sixhourly")
    runner.run(job, START.replace(hour=6))
    entries = runner.backfill(job, START, END)
    assert hours(entries) == [0, 12, 18]
    assert hours(runner.journal) == [6, 0, 12, 18]
    assert runner.backfill(job, START, END) == []


def test_it_stops_after_the_first_failure(make_runner):
    runner, _, _ = make_runner(JOBS, 0, 1)
    entries = runner.backfill(runner.config.job("sixhourly"), START, END)
    assert [entry.outcome for entry in entries] == [Outcome.OK, Outcome.FAILED]


def test_unless_it_is_told_to_go_on(make_runner):
    runner, _, _ = make_runner(JOBS, 0, 1)
    assert hours(runner.backfill(runner.config.job("sixhourly"), START, END, keep_going=True)) == [0, 6, 12, 18]


def test_disabled_jobs_too(make_runner):
    runner, _, _ = make_runner(JOBS)
    assert hours(runner.backfill(runner.config.job("off"), START, END)) == [0]


def test_a_range_that_runs_backwards(make_runner):
    runner, _, _ = make_runner(JOBS)
    with pytest.raises(TempoError, match="the range ends before it begins"):
        runner.backfill(runner.config.job("off"), END, START)


def test_the_command(tmp_path, capsys):
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS)
    span = ["--from", "2026-04-18", "--to", "2026-04-19"]
    assert main(["backfill", str(file), "sixhourly", *span]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "sixhourly  2026-04-18 00:00  ok",
        "sixhourly  2026-04-18 06:00  ok",
        "sixhourly  2026-04-18 12:00  failed",
    ]
    assert main(["backfill", str(file), "sixhourly", *span, "--keep-going"]) == 0
    assert main(["backfill", str(file), "sixhourly", *span]) == 0
    assert capsys.readouterr().out.splitlines() == ["sixhourly  2026-04-18 18:00  ok", "nothing to backfill"]
    assert len(list(Journal(tmp_path / "journal.jsonl"))) == 4
