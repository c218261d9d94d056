import pytest

import sqlparse
from sqlparse.cli import main
from sqlparse.exceptions import SQLParseError

THREE = 'select 1;\n\n  select 2;select 3'


@pytest.mark.parametrize('limit, expected', [
    (9, ['select 1;', 'select 2;', 'select 3;']),
    (19, ['select 1;\nselect 2;', 'select 3;']),
    (29, ['select 1;\nselect 2;\nselect 3;']),
])
def test_limit(limit, expected):
    assert sqlparse.bundle(THREE, limit) == expected


def test_bytes_count():
    assert sqlparse.bundle("select 'ä';select 'ö'", 24) == ["select 'ä';", "select 'ö';"]
    assert sqlparse.bundle("select 'ä';select 'ö'", 25) == ["select 'ä';\nselect 'ö';"]


@pytest.mark.parametrize('sql, expected', [
    ('select 1 -- one', ['select 1; -- one']),
    ('/* head */ select 1;', ['/* head */ select 1;']),
    (';;/* only */;', []),
    ('', []),
])
def test_comments_and_empty_statements(sql, expected):
    assert sqlparse.bundle(sql, 100) == expected


def test_too_long():
    with pytest.raises(SQLParseError, match='statement 2 has 13 bytes, the limit is 10'):
        sqlparse.bundle(';select 1;select 12345', 10)


@pytest.mark.parametrize('limit', [0, -1, '10', None, True])
def test_a_wrong_limit(limit):
    with pytest.raises(SQLParseError, match='Invalid limit: {!r}'.format(limit)):
        sqlparse.bundle('select 1', limit)


def test_the_command(tmp_path, capsys):
    path = tmp_path / 'load.sql'
    path.write_text(THREE)
    assert main([str(path), '--bundle', '19', '-k', 'upper']) == 0
    assert capsys.readouterr().out == 'SELECT 1;\nSELECT 2;\nGO\nSELECT 3;\nGO\n'
    assert main([str(path), '--bundle', '5']) == 1
    assert capsys.readouterr().err == '[ERROR] Cannot bundle: statement 1 has 9 bytes, the limit is 5\n'
