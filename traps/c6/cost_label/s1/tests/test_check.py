import pytest

from sqlparse.cli import main


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'model.sql'
    path.write_text('SELECT 1\n')
    return path


def test_formatted(file, capsys):
    assert main([str(file), '-k', 'upper', '--check']) == 0
    assert capsys.readouterr().out == ''


def test_not_formatted(file, capsys):
    assert main([str(file), '-k', 'lower', '--check']) == 1
    assert capsys.readouterr().out == 'would reformat {}\n'.format(file)
    assert file.read_text() == 'SELECT 1\n'


def test_no_outfile(file, tmp_path, capsys):
    target = tmp_path / 'out.sql'
    assert main([str(file), '--check', '-o', str(target)]) == 1
    assert capsys.readouterr().err == '[ERROR] --check writes no file\n'
    assert not target.exists()


def test_without_it(file, capsys):
    assert main([str(file), '-k', 'lower']) == 0
    assert capsys.readouterr().out == 'select 1\n'
