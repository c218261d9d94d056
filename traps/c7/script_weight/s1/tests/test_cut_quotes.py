import pytest

import sqlparse


@pytest.mark.parametrize('width, expected', [
    (2, "'it[...]'"), (3, "'it[...]'"), (4, "'it''[...]'"), (5, "'it''s[...]'"), (10, "'it''s late'"),
])
def test_doubled(width, expected):
    assert sqlparse.format("select 'it''s late'", truncate_strings=width) == 'select ' + expected


@pytest.mark.parametrize('width, expected', [(2, "'it[...]'"), (3, "'it[...]'"), (4, "'it\\'[...]'")])
def test_behind_a_backslash(width, expected):
    assert sqlparse.format("select 'it\\'s late'", truncate_strings=width) == 'select ' + expected


def test_many_quotes():
    sql = "select 'a''''''b'"
    found = [sqlparse.format(sql, truncate_strings=n, truncate_char='~') for n in range(2, 8)]
    assert found == ["select 'a~'"] + ["select 'a''~'"] * 2 + ["select 'a''''~'"] * 2 + ["select 'a''''''~'"]
