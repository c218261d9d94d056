from datetime import timedelta

import pytest

from boltons.timeutils import parse_timedelta


@pytest.mark.parametrize(('text', 'expected'), [
    ('1d 2h 3.5m 0s', timedelta(days=1, seconds=7410)),
    ('2 weeks 1 day', timedelta(days=15)),
    ('-1.5 weeks 3m 20s', timedelta(days=-11, seconds=43400)),
    ('1 day, 2h and 5m', timedelta(days=1, hours=2, minutes=5)),
    ('1h 1h', timedelta(hours=2)),
    ('1h30m', timedelta(minutes=90)),
    (' 90 seconds ', timedelta(seconds=90)),
])
def test_understood(text, expected):
    assert parse_timedelta(text) == expected


@pytest.mark.parametrize('text', ['', '  ', 'soon', 'none', '5 minuts', '5m or so', '5', '5 x', '3 months'])
def test_refused(text):
    with pytest.raises(ValueError) as caught:
        parse_timedelta(text)
    assert repr(text) in str(caught.value)
