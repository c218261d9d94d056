import pytest

from tempo.errors import ScheduleError
from tempo.schedule import Schedule


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("@daily 02:15", "15 2 * * *"),
        ("@weekly 6:30", "30 6 * * 0"),
        ("  @Monthly   23:59 ", "59 23 1 * *"),
        ("@yearly 0:00", "0 0 1 1 *"),
        ("@weekdays 06:30", "30 6 * * mon-fri"),
        ("@weekdays", "0 0 * * 1-5"),
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
    ],
)
def test_shorthands(text, same_as):
    assert Schedule.parse(text) == Schedule.parse(same_as)


@pytest.mark.parametrize("time", ["24:00", "2:5", "2:60", "02.15", "noon", "002:15", "-1:00", ":30"])
def test_what_is_no_time(time):
    with pytest.raises(ScheduleError) as caught:
        Schedule.parse(f"@daily {time}")
    assert str(caught.value) == f"time: cannot read {time!r}"


def test_hourly_takes_no_time():
    with pytest.raises(ScheduleError, match="@hourly takes no time"):
        Schedule.parse("@hourly 02:15")


@pytest.mark.parametrize("text", ["@daily 02:15 mon", "@nightly", "@nightly 02:15"])
def test_other_words_are_wrong_as_before(text):
    with pytest.raises(ScheduleError, match="expected 5 fields"):
        Schedule.parse(text)
