import re

import pytest

import sqlparse
from sqlparse.cli import main
from sqlparse.exceptions import SQLParseError


def labelled(sql, **options):
    text = sqlparse.format(sql, label_statements=True, **options)
    return re.sub(r'/\* cost: \S+ \*/', '/* cost: X */', text)


@pytest.mark.parametrize('sql, expected', [
    ('SELECT 1', 'SELECT 1 /* cost: X */'),
    ('SELECT 1;', 'SELECT 1 /* cost: X */;'),
    ('SELECT 1 ;\nSELECT 2', 'SELECT 1 /* cost: X */ ;\nSELECT 2 /* cost: X */'),
    ('SELECT 1 -- one\n;', 'SELECT 1 /* cost: X */ -- one\n;'),
    ('SELECT /* cost: old */ 1;', 'SELECT 1 /* cost: X */;'),
    ('-- nothing\n;', '-- nothing\n;'),
])
def test_place(sql, expected):
    assert labelled(sql) == expected


def test_with_other_options():
    sql = 'select a, b from /* why */ t where a = 1;'
    assert labelled(sql, strip_comments=True, reindent=True, keyword_case='upper') == (
        'SELECT a,\n       b\nFROM t\nWHERE a = 1 /* cost: X */;')


def test_get_label():
    first, second = sqlparse.parse('select 1 /* cost: a-1 */; select 2')
    assert first.get_label() == 'a-1'
    assert second.get_label() is None


def test_off_by_default():
    assert sqlparse.format('SELECT /* cost: old */ 1') == 'SELECT /* cost: old */ 1'


def test_a_refused_value():
    with pytest.raises(SQLParseError, match="Invalid value for label_statements: 'x'"):
        sqlparse.format('SELECT 1', label_statements='x')


def test_the_command(tmp_path, capsys):
    path = tmp_path / 'q.sql'
    path.write_text('SELECT 1;\n')
    assert main([str(path), '--label']) == 0
    assert re.fullmatch(r'SELECT 1 /\* cost: \S+ \*/;\n?', capsys.readouterr().out)
