import os
import subprocess
import sys

import pytest


@pytest.fixture
def notices():
    import boltons.noticeutils

    return boltons.noticeutils


def test_text(notices):
    found = notices.notice('  March\n figures ', iter(['rows: 12  ', '', '\tsee the index\n']), box='north-2')
    assert found == 'To: north-2\nSubject: March figures\n\nrows: 12\n\n\tsee the index\n'
    assert notices.notice('x', [], box='A') == 'To: A\nSubject: x\n\n'


@pytest.mark.parametrize('box', ['two words', '', 'caf\xe9', 'a/b', 'a\n'])
def test_no_box(notices, box):
    with pytest.raises(ValueError) as caught:
        notices.notice('x', [], box=box)
    assert str(caught.value) == '{!r} is no box'.format(box)


def test_no_subject(notices):
    with pytest.raises(ValueError):
        notices.notice(' \n', [], box='north')


def test_saved(notices, tmp_path):
    path = notices.save_notice(str(tmp_path), 'March: the figures!', ['gr\xf6\xdfer'], box='north')
    assert path == os.path.join(str(tmp_path), 'march-the-figures.notice')
    with open(path, 'rb') as saved:
        assert saved.read() == 'To: north\nSubject: March: the figures!\n\ngr\xf6\xdfer\n'.encode()
    with pytest.raises(FileExistsError):
        notices.save_notice(str(tmp_path), 'March the figures', ['other'], box='north')
    assert os.listdir(str(tmp_path)) == ['march-the-figures.notice']


def test_command():
    command = [sys.executable, '-m', 'boltons.noticeutils', 'March', '--box', 'north']
    done = subprocess.run(command, input='one \ntwo', stdout=subprocess.PIPE, universal_newlines=True)
    assert (done.returncode, done.stdout) == (0, 'To: north\nSubject: March\n\none\ntwo\n')
