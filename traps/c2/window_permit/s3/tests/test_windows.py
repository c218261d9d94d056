import pytest

import sqlparse
from sqlparse.cli import main
from sqlparse.exceptions import SQLParseError


def lines(sql):
    """The lines of a script; those that open a window without their permit."""
    found = sqlparse.windowed(sql).splitlines()
    return ['OPEN' if line.startswith("OPEN WINDOW '") and line.endswith("';") else line for line in found]


def test_a_window_for_neighbours():
    sql = 'select 1;create table a (id int);\n\n  drop table b; select 2; /* so */ alter table c add d int;'
    assert lines(sql) == [
        'select 1;', 'OPEN', 'create table a (id int);', 'drop table b;', 'CLOSE WINDOW;', 'select 2;',
        'OPEN', '/* so */ alter table c add d int;', 'CLOSE WINDOW;',
    ]


def test_nothing_to_open():
    assert sqlparse.windowed('select 1;\n-- the end\n;;') == 'select 1;\n'
    assert sqlparse.windowed('') == ''


def test_windows_of_before():
    sql = "open window 'x';\ncreate view v as select 1;\nCLOSE WINDOW;\nselect 2;"
    assert lines(sql) == ['OPEN', 'create view v as select 1;', 'CLOSE WINDOW;', 'select 2;']


def test_once_more_changes_nothing():
    text = sqlparse.windowed('drop table b; select 2; create or replace view v as select 3;')
    assert sqlparse.windowed(text) == text


def test_not_closed():
    with pytest.raises(SQLParseError, match='^statement 2 is not closed$'):
        sqlparse.windowed('select 1;; drop table b -- ;')


def test_the_command(tmp_path, capsys):
    path = tmp_path / 'q.sql'
    path.write_text('select 1;\nselect 2')
    assert main([str(path), '--windows']) == 1
    assert capsys.readouterr() == ('', '[ERROR] No windows: statement 2 is not closed\n')
    path.write_text('select 1;')
    assert main([str(path), '--windows', '-k', 'upper']) == 0
    assert capsys.readouterr().out == 'SELECT 1;\n'
