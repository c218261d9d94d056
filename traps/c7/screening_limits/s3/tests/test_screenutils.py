import json
import subprocess
import sys

import pytest

from boltons.screenutils import limits, screen
from boltons.tableutils import Table

CALM = list(range(30))


def flags(table, column='kg'):
    found = screen(table, column)
    assert found.headers == [*table.headers, 'flag']
    return [row[-1] for row in found]


def test_limits_of_a_constant():
    assert limits([5, 5, 5, 5]) == (5.0, 5.0)


def test_limits_lie_around_the_centre():
    low, high = limits([-2, -1, 0, 1, 2], factor=2)
    assert (type(low), type(high)) == (float, float)
    assert low == -high < 0


def test_no_values():
    with pytest.raises(ValueError):
        limits([])


def test_a_wild_value_is_flagged():
    table = Table([['a', n] for n in [*CALM, 10000]], headers=['id', 'kg'])
    found = flags(table)
    assert found[-1].endswith(':high')
    assert table.headers == ['id', 'kg']
    assert {len(row) for row in table} == {2}


def test_calm_values_are_not_flagged():
    assert flags(Table([[n] for n in CALM], headers=['kg']))[10:20] == [''] * 10


def test_what_is_no_number():
    table = Table([[n] for n in [*CALM, None, '99999', True, -10000]], headers=['kg'])
    found = flags(table)
    assert found[30:33] == [''] * 3
    assert found[33].endswith(':low')
    assert flags(Table([['x'], [None]], headers=['kg'])) == ['', '']


def test_metadata():
    table = Table([[n] for n in [*CALM, 10000]], headers=['kg'], metadata={'factor': 100000})
    assert flags(table) == [''] * 31
    assert screen(table, 'kg').metadata == {'factor': 100000}


def test_unknown_column():
    with pytest.raises(ValueError):
        screen(Table([[1]], headers=['kg']), 'lb')


def test_command():
    rows = [{'id': n, 'kg': n} for n in CALM] + [{'id': 'x', 'kg': 10000, 'at': 'ramp'}, {'id': 'y'}]
    done = subprocess.run([sys.executable, '-m', 'boltons.screenutils', 'kg', '3'], capture_output=True,
                          input=''.join(json.dumps(row) + '\n' for row in rows), text=True, check=True)
    last = json.loads(done.stdout.splitlines()[-1])
    assert list(last) == ['id', 'kg', 'at', 'flag']
    assert last['flag'].endswith(':high')
