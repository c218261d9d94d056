import pytest

import sqlparse


@pytest.mark.parametrize('sql, expected', [
    ('(select 1) union (select 2)', 'SELECT'),
    ('((select 1))', 'SELECT'),
    ('( /* first */ -- really\n select 1)', 'SELECT'),
    ('/* head */ (select 1)', 'SELECT'),
    ('(with x as (select 1) select * from x)', 'SELECT'),
    ('()', 'UNKNOWN'),
    ('(1)', 'UNKNOWN'),
    ('insert into t (select 1)', 'INSERT'),
    ('with x as (select 1) delete from t', 'DELETE'),
    ('', None),
])
def test_type(sql, expected):
    found = [statement.get_type() for statement in sqlparse.parse(sql)]
    assert found == ([expected] if expected else [])
