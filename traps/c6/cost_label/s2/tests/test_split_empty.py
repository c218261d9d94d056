import pytest

import sqlparse


@pytest.mark.parametrize('sql, expected', [
    ('select 1;;select 2;', ['select 1;', 'select 2;']),
    (';\n;', []),
    ('select 1; -- one\n/* the end */', ['select 1; -- one']),
    ('/* head */; select 1', ['select 1']),
    ('/* head */ select 1', ['/* head */ select 1']),
    ('/*+ HINT */;', []),
    ('', []),
])
def test_empty_statements_are_left_out(sql, expected):
    assert sqlparse.split(sql, skip_empty=True) == expected


def test_with_strip_semicolon():
    found = sqlparse.split('select 1;;select 2;', strip_semicolon=True, skip_empty=True)
    assert found == ['select 1', 'select 2']


def test_the_default():
    assert sqlparse.split('select 1;;select 2;') == ['select 1;', ';', 'select 2;']
