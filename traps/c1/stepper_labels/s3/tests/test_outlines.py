import pytest

import sqlparse
from sqlparse.cli import main
from sqlparse.exceptions import SQLParseError

SQL = '''/* head
of two lines */ select 1;
;
-- nothing
insert into gauge
values (1); delete from gauge

;  -- the last one
'''


def test_types_and_lines():
    text = sqlparse.outline(SQL)
    rows = [line.split(' ') for line in text.splitlines()]
    assert [row[1:] for row in rows] == [['SELECT', '2'], ['INSERT', '5'], ['DELETE', '6']]
    assert len({row[0] for row in rows}) == 3
    assert text.endswith('\n')


def test_find():
    labels = [line.split(' ')[0] for line in sqlparse.outline(SQL).splitlines()]
    assert [sqlparse.find(SQL, label) for label in labels] == [
        'select 1;', 'insert into gauge\nvalues (1);', 'delete from gauge\n\n;  -- the last one',
    ]


@pytest.mark.parametrize('label', ['', 'x', '0'])
def test_not_found(label):
    with pytest.raises(SQLParseError) as caught:
        sqlparse.find(SQL, label)
    assert str(caught.value) == 'no statement is called {!r}'.format(label)


def test_nothing():
    assert sqlparse.outline(' ;\n/* a */;') == ''


def test_the_command(tmp_path, capsys):
    path = tmp_path / 'q.sql'
    path.write_text(SQL)
    assert main([str(path), '--outline', '-k', 'upper']) == 0
    assert capsys.readouterr().out == sqlparse.outline(SQL)
    assert main([str(path), '-k', 'upper']) == 0
    assert 'SELECT 1;' in capsys.readouterr().out
