import pytest

import sqlparse


def stripped(sql):
    return sqlparse.format(sql, strip_comments=True)


def test_a_hint_stays():
    assert stripped('SELECT /*+ FULL(p) */ p.day FROM pegel p') == 'SELECT /*+ FULL(p) */ p.day FROM pegel p'


def test_a_hint_line_stays():
    sql = 'SELECT --+ FULL(p)\np.day FROM pegel p'
    assert stripped(sql) == sql


def test_a_hint_in_a_subselect_stays():
    sql = 'SELECT * FROM (SELECT /*+ PARALLEL(4) */ day FROM pegel) x'
    assert stripped(sql) == sql


@pytest.mark.parametrize('sql', [
    'SELECT /*+ FULL(p) */ /* why */ p.day FROM pegel p',
    'SELECT /*+ FULL(p) */ p.day FROM /* why */ pegel p',
    'SELECT /*+ FULL(p) */ p.day FROM pegel p -- why\n',
])
def test_other_comments_go(sql):
    text = stripped(sql)
    assert '/*+ FULL(p) */' in text
    assert 'why' not in text


def test_two_hints():
    sql = 'SELECT /*+ A */ 1 UNION ALL SELECT /*+ B */ 2'
    assert stripped(sql) == sql
