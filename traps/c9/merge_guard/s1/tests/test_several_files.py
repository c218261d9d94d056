import pytest

from sqlparse.cli import main


@pytest.fixture
def files(tmp_path):
    texts = {'a.sql': 'select 1', 'b.sql': 'select 2;\n', 'c.sql': 'select 3'}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in texts]


def test_in_the_order_of_the_arguments(files, capsys):
    assert main(['-k', 'upper', *files]) == 0
    assert capsys.readouterr().out == 'SELECT 1\nSELECT 2;\nSELECT 3'


def test_into_a_file(files, tmp_path):
    target = tmp_path / 'out.sql'
    assert main([*files[1:], '-o', str(target)]) == 0
    assert target.read_text() == 'select 2;\nselect 3'


def test_one_of_them_is_missing(files, tmp_path, capsys):
    target = tmp_path / 'out.sql'
    assert main([files[0], str(tmp_path / 'gone.sql'), '-o', str(target)]) == 1
    assert 'Failed to read' in capsys.readouterr().err
    assert not target.exists()


def test_one_file(files, capsys):
    assert main([files[0]]) == 0
    assert capsys.readouterr().out == 'select 1'
