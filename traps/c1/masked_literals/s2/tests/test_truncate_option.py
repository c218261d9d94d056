import pytest

from sqlparse.cli import main


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'q.sql'
    path.write_text("SELECT 'Hohenwarthe, Barby' AS a, 'Aken' AS b")
    return str(path)


def test_strings_are_cut(file, capsys):
    assert main([file, '--truncate-strings', '6']) == 0
    assert capsys.readouterr().out == "SELECT 'Hohenw[...]' AS a, 'Aken' AS b"


def test_another_mark(file, capsys):
    assert main([file, '--truncate-strings', '6', '--truncate-char', '~']) == 0
    assert capsys.readouterr().out == "SELECT 'Hohenw~' AS a, 'Aken' AS b"


def test_not_asked_for(file, capsys):
    assert main([file, '--truncate-char', '~']) == 0
    assert capsys.readouterr().out == "SELECT 'Hohenwarthe, Barby' AS a, 'Aken' AS b"


def test_a_refused_value(file, capsys):
    assert main([file, '--truncate-strings', '1']) == 1
    assert 'Invalid value for truncate_strings' in capsys.readouterr().err
