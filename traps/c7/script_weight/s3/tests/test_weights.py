import pytest

import sqlparse
from sqlparse.cli import main


@pytest.mark.parametrize('sql', ['', ' ;\n;', '-- select 1', '/* a */;'])
def test_no_statement(sql):
    assert sqlparse.weigh(sql) == (0, 'day')


@pytest.mark.parametrize('sql', ['drop table a', 'commit;', '/* a */ create table b (c int);\n-- d\n'])
def test_one_of_the_rest(sql):
    assert sqlparse.weigh(sql) == (1, 'day')


def test_layout_does_not_matter():
    one = sqlparse.weigh('select 1; delete from a; commit')
    assert one == sqlparse.weigh('/* b */ SELECT 1;;\n\n with x as (select 1) delete from a; -- c\ncommit;')
    assert [type(part) for part in one] == [int, str]


def test_the_command(tmp_path, capsys):
    path = tmp_path / 'q.sql'
    path.write_text('drop table a')
    assert main([str(path), '--weigh']) == 0
    assert capsys.readouterr().out == '1 day\n'
    assert main([str(path), '-k', 'upper']) == 0
    assert capsys.readouterr().out == 'DROP TABLE a'
