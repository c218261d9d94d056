import subprocess
import sys

import pytest

from sqlparse.cli import main


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'lock_4.sql'
    path.write_bytes('select 1 as f\xfcnf'.encode('latin-1'))
    return path


def test_not_in_that_encoding(file, capsys):
    assert main([str(file)]) == 1
    assert capsys.readouterr() == ('', '[ERROR] {} is not written in utf-8\n'.format(file))


def test_unknown_encoding(file, capsys):
    assert main([str(file), '--encoding', 'utf8x']) == 1
    assert capsys.readouterr() == ('', '[ERROR] Unknown encoding: utf8x\n')


@pytest.mark.parametrize('encoding', ['utf-8', 'utf8x'])
def test_outfile_is_not_opened(file, tmp_path, capsys, encoding):
    out = tmp_path / 'out.sql'
    out.write_text('as before')
    assert main([str(file), '--encoding', encoding, '-o', str(out)]) == 1
    assert out.read_text() == 'as before'


@pytest.mark.parametrize('encoding, words', [
    ('utf-8', '- is not written in utf-8'), ('utf8x', 'Unknown encoding: utf8x'),
])
def test_standard_input(file, encoding, words):
    done = subprocess.run([sys.executable, '-m', 'sqlparse', '--encoding', encoding, '-'], input=file.read_bytes(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b'', '[ERROR] {}\n'.format(words))


def test_right_encoding(file, capsys):
    assert main([str(file), '--encoding', 'latin-1']) == 0
    assert capsys.readouterr().out == 'select 1 as f\xfcnf'
