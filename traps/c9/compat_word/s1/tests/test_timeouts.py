import json
from datetime import datetime

from tempo.config import parse
from tempo.journal import Entry
from tempo.launcher import Result
from tempo.model import Outcome
from tempo.report import as_json, as_table, summarise
from tempo.runner import Runner

SLOT = datetime(2026, 4, 6, 1, 0)
JOB = '[[job]]\nname = "bulk"\nschedule = "@daily"\ncommand = "true"\n[job.retry]\nattempts = 2\n'

KILLED = Result(-9, timed_out=True)
BROKEN = Result(1)


def run(tmp_path, *results):
    answers = iter(results)
    runner = Runner(parse(JOB, base=tmp_path), launcher=lambda _: next(answers), pause=lambda _: None)
    entry = runner.run(runner.config.job("bulk"), SLOT)
    assert list(runner.journal) == [entry]
    return entry.outcome, entry.attempts


def test_a_run_whose_last_attempt_was_killed(tmp_path):
    assert run(tmp_path, BROKEN, KILLED) == (Outcome.TIMEOUT, 2)


def test_a_timeout_is_tried_again(tmp_path):
    assert run(tmp_path, KILLED, Result(0)) == (Outcome.OK, 2)


def test_the_last_attempt_decides(tmp_path):
    assert run(tmp_path, KILLED, BROKEN) == (Outcome.FAILED, 2)


def test_the_report_counts_timeouts_among_the_failed():
    outcomes = (Outcome.OK, Outcome.TIMEOUT, Outcome.FAILED, Outcome.TIMEOUT)
    rows = summarise([Entry("bulk", SLOT, SLOT, outcome) for outcome in outcomes])
    assert (rows[0].ok, rows[0].failed, rows[0].timeouts) == (1, 3, 2)
    assert json.loads(as_json(rows))[0]["timeouts"] == 2
    assert as_table(rows).splitlines()[0] == "name  runs  ok  failed  retries  seconds"
