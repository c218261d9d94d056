import pytest

import sqlparse
from sqlparse.cli import main
from sqlparse.exceptions import SQLParseError


def masked(sql, **options):
    return sqlparse.format(sql, mask_literals=True, **options)


@pytest.mark.parametrize('number, expected', [
    ('42', '0'), ('4.5', '0'), ('0xFF', '0'), ('1E-3', '0'), ('-7', '-0'),
])
def test_numbers(number, expected):
    assert masked('SELECT {} FROM t'.format(number)) == 'SELECT {} FROM t'.format(expected)


def test_strings_look_alike():
    assert masked("SELECT 'Aken'") == masked("SELECT 'it''s'") == masked("SELECT $$Barby$$")
    assert 'Aken' not in masked("SELECT 'Aken'")


def test_other_things_stay():
    sql = 'SELECT "Station 4", t4.x, :p1, %s, ? FROM t4 /* from 1998 */'
    assert masked(sql) == sql


def test_off_by_default():
    assert sqlparse.format("SELECT 'Aken', 42") == "SELECT 'Aken', 42"


def test_a_refused_value():
    with pytest.raises(SQLParseError, match="Invalid value for mask_literals: 'yes'"):
        sqlparse.format('SELECT 1', mask_literals='yes')


def test_the_command(tmp_path, capsys):
    path = tmp_path / 'q.sql'
    path.write_text('SELECT day FROM pegel WHERE cm > 640')
    assert main([str(path), '--mask-literals']) == 0
    assert capsys.readouterr().out == 'SELECT day FROM pegel WHERE cm > 0'


def test_fingerprint():
    assert sqlparse.fingerprint('select cm\n  from pegel -- all\n where cm > 640;') == \
        'SELECT cm FROM pegel WHERE cm > 0'
    assert sqlparse.fingerprint('select 1; select 2;\n') == 'SELECT 0; SELECT 0'
