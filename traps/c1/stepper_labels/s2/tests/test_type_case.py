import pytest

import sqlparse
from sqlparse.exceptions import SQLParseError

SQL = 'create table Gauge (id Int, made date)'


@pytest.mark.parametrize('options, expected', [
    ({'type_case': 'upper'}, 'create table Gauge (id INT, made DATE)'),
    ({'type_case': 'capitalize'}, 'create table Gauge (id Int, made Date)'),
    ({'type_case': 'lower', 'keyword_case': 'upper'}, 'CREATE TABLE Gauge (id int, made date)'),
    ({'type_case': 'upper', 'identifier_case': 'lower'}, 'create table gauge (id INT, made DATE)'),
    ({'type_case': None}, SQL),
    ({'keyword_case': 'upper'}, 'CREATE TABLE Gauge (id Int, made date)'),
])
def test_types(options, expected):
    assert sqlparse.format(SQL, **options) == expected


def test_refused():
    with pytest.raises(SQLParseError, match="^Invalid value for type_case: 'big'$"):
        sqlparse.format(SQL, type_case='big')
