from datetime import datetime

import pytest

from tempo.backoff import Backoff
from tempo.config import parse
from tempo.errors import ConfigError
from tempo.launcher import Result
from tempo.model import Outcome
from tempo.runner import Runner

SLOT = datetime(2026, 4, 13, 1, 0)
JOB = '[[job]]\nname = "bulk"\nschedule = "@daily"\ncommand = "true"\n[job.retry]\nattempts = 3\n'

KILLED = Result(-9, timed_out=True)
BROKEN = Result(1)


def run(tmp_path, text, *results):
    answers = iter(results)
    runner = Runner(parse(text, base=tmp_path), launcher=lambda _: next(answers), pause=lambda _: None)
    entry = runner.run(runner.config.job("bulk"), SLOT)
    return entry.outcome, entry.attempts


def test_a_failure_is_final_when_only_timeouts_are_retried(tmp_path):
    assert run(tmp_path, JOB + 'on = "timeout"\n', KILLED, BROKEN) == (Outcome.FAILED, 2)


def test_timeouts_are_retried(tmp_path):
    assert run(tmp_path, JOB + 'on = "timeout"\n', KILLED, KILLED, KILLED) == (Outcome.TIMEOUT, 3)


def test_any_is_the_default(tmp_path):
    assert Backoff().on == "any"
    assert run(tmp_path, JOB, BROKEN, KILLED, Result(0)) == (Outcome.OK, 3)


def test_the_default_section_is_inherited(tmp_path):
    config = parse('[retry]\non = "timeout"\n' + JOB)
    assert config.job("bulk").retry == Backoff(attempts=3, on="timeout")


@pytest.mark.parametrize(("value", "where"), [('"never"', "job 'bulk'.retry"), ("1", "job 'bulk'.retry.on")])
def test_other_values(value, where):
    with pytest.raises(ConfigError) as caught:
        parse(JOB + f"on = {value}\n")
    assert caught.value.where == where
