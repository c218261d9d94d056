import pytest

from tempo.config import parse
from tempo.errors import ConfigError

JOB = '[[job]]\nname = "a"\nschedule = "@daily"\ncommand = "true"\n'


@pytest.mark.parametrize(
    ("text", "seconds"),
    [('"90s"', 90.0), ('"10m"', 600.0), ('"1h30m"', 5400.0), ('"2h5s"', 7205.0), ("45", 45.0), ("0.5", 0.5)],
)
def test_timeouts(text, seconds):
    assert parse(f"{JOB}timeout = {text}\n").job("a").timeout == seconds


@pytest.mark.parametrize("text", ["10 min", "m", "", "5", "30m1h", "1m2m", "-5m", "1.5h", "10M"])
def test_what_cannot_be_read(text):
    with pytest.raises(ConfigError) as caught:
        parse(f'{JOB}timeout = "{text}"\n')
    assert str(caught.value) == f"job 'a'.timeout: cannot read {text!r}"


@pytest.mark.parametrize("text", ['"0m"', "0"])
def test_nothing_is_not_a_timeout(text):
    with pytest.raises(ConfigError, match="must be positive"):
        parse(f"{JOB}timeout = {text}\n")


def test_the_retry_policy_takes_numbers_only():
    with pytest.raises(ConfigError, match="must be a number"):
        parse(f'[retry]\nbase = "5s"\n{JOB}')
