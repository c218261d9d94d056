import pytest

import sqlparse


@pytest.mark.parametrize('sql, expected', [
    ('select `netWeight` from t', 'select `netWeight` from T'),
    ('select [Lock Id] from t', 'select [Lock Id] from T'),
    ('select t1.`netWeight`, b from t1', 'select T1.`netWeight`, B from T1'),
    ('select a as `lowerCase`', 'select A as `lowerCase`'),
    ('select "netWeight", a from t', 'select "netWeight", A from T'),
])
def test_quoted_names_stay(sql, expected):
    assert sqlparse.format(sql, identifier_case='upper') == expected


def test_lower():
    assert sqlparse.format('select `A`, B, [C d]', identifier_case='lower') == 'select `A`, b, [C d]'
