from datetime import datetime, timedelta

import pytest

from tempo.clock import FixedClock
from tempo.config import parse
from tempo.errors import ConfigError
from tempo.launcher import Result
from tempo.runner import Runner
from tempo.stagger import offset

JOBS = "".join(
    f'[[job]]\nname = "job{number}"\nschedule = "0 3 * * *"\ncommand = "true"\n\n' for number in range(12)
)
THREE = datetime(2026, 5, 25, 3, 0)


def test_the_formula():
    assert [offset("a", name, 20) for name in ("b", "c", "mail")] == [16, 8, 18]
    assert offset("a", "b", 0) == 0


def test_offsets_stay_within_the_stagger():
    offsets = [job.offset for job in parse("[tempo]\nstagger = 7\n" + JOBS).jobs]
    assert set(offsets) <= set(range(8))
    assert len(set(offsets)) > 1


def test_no_stagger_no_offset():
    assert {job.offset for job in parse(JOBS).jobs} == {0}


@pytest.mark.parametrize("value", ["60", "-1", "1.5", "true", "'20'"])
def test_other_staggers_are_refused(value):
    with pytest.raises(ConfigError, match="must be a whole number from 0 to 59") as caught:
        parse(f"[tempo]\nstagger = {value}\n" + JOBS)
    assert caught.value.where == "tempo.stagger"


def test_jobs_are_due_at_their_offset(tmp_path):
    config = parse("[tempo]\nstagger = 30\n" + JOBS, base=tmp_path)
    clock = FixedClock(THREE)
    runner = Runner(config, launcher=lambda command: Result(0), clock=clock)
    seen = {}
    for _ in range(60):
        seen |= {entry.job: entry.slot for entry in runner.tick()}
        clock.advance(minutes=1)
    assert seen == {job.name: THREE + timedelta(minutes=job.offset) for job in config.jobs}
