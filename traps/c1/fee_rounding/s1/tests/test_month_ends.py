from datetime import date

import pytest

from boltons.timeutils import daterange


def days(start, stop, step, **options):
    return [day.isoformat() for day in daterange(date(*start), stop and date(*stop), step=step, **options)]


@pytest.mark.parametrize('start, stop, step, expected', [
    ((2017, 1, 31), (2017, 6, 1), (0, 1, 0), ['2017-01-31', '2017-02-28', '2017-03-31', '2017-04-30', '2017-05-31']),
    ((2015, 12, 30), (2016, 4, 1), (0, 1, 0), ['2015-12-30', '2016-01-30', '2016-02-29', '2016-03-30']),
    ((2016, 5, 31), (2016, 1, 1), (0, -1, 0), ['2016-05-31', '2016-04-30', '2016-03-31', '2016-02-29', '2016-01-31']),
    ((2016, 2, 29), (2020, 12, 31), (1, 0, 0),
     ['2016-02-29', '2017-02-28', '2018-02-28', '2019-02-28', '2020-02-29']),
    ((2017, 1, 31), (2017, 5, 1), (0, 1, 1), ['2017-01-31', '2017-03-01', '2017-04-02']),
    ((2017, 1, 5), (2017, 4, 5), (0, 1, 0), ['2017-01-05', '2017-02-05', '2017-03-05']),
])
def test_months(start, stop, step, expected):
    assert days(start, stop, step) == expected


def test_inclusive():
    assert days((2017, 1, 31), (2017, 2, 28), (0, 1, 0), inclusive=True) == ['2017-01-31', '2017-02-28']
