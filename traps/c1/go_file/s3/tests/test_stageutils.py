import os

import pytest

from boltons.stageutils import is_complete, save_together


def put(data):
    return lambda stream: stream.write(data)


def listing(folder):
    return sorted(os.listdir(folder))


def go_files(folder, *names):
    return [name for name in listing(folder) if name not in names]


def test_all_files_are_saved(tmp_path):
    (tmp_path / 'index').write_bytes(b'old')
    assert not is_complete(str(tmp_path))
    save_together(str(tmp_path), {'data': put(b'1'), 'index': put(b'new')})
    assert (tmp_path / 'index').read_bytes() == b'new'
    assert (tmp_path / 'data').read_bytes() == b'1'
    assert is_complete(str(tmp_path))


def test_the_go_file(tmp_path):
    save_together(str(tmp_path), {'data': put(b'1')})
    (name,) = go_files(tmp_path, 'data')
    assert (tmp_path / name).read_bytes() == b''
    with pytest.raises(ValueError):
        save_together(str(tmp_path), {name: put(b'2')})
    (tmp_path / name).unlink()
    assert not is_complete(str(tmp_path))


def test_while_files_are_written(tmp_path):
    seen = []

    def last(stream):
        seen.append((listing(tmp_path), listing(tmp_path / '.staging'), is_complete(str(tmp_path))))

    save_together(str(tmp_path), {'data': put(b'1')})
    before = listing(tmp_path)
    save_together(str(tmp_path), {'data': put(b'2'), 'index': last})
    assert seen == [(['.staging', *before], ['data', 'index'], False)]


def test_a_writer_that_raises(tmp_path):
    def broken(stream):
        raise RuntimeError('no more rows')

    save_together(str(tmp_path), {'data': put(b'old')})
    before = listing(tmp_path)
    with pytest.raises(RuntimeError, match='no more rows'):
        save_together(str(tmp_path), {'data': put(b'new'), 'index': broken})
    assert listing(tmp_path) == before
    assert (tmp_path / 'data').read_bytes() == b'old'
    assert is_complete(str(tmp_path))


def test_a_move_that_fails(tmp_path):
    save_together(str(tmp_path), {'data': put(b'old')})
    (tmp_path / 'index').mkdir()
    with pytest.raises(OSError):
        save_together(str(tmp_path), {'data': put(b'new'), 'index': put(b'1')})
    assert listing(tmp_path) == ['data', 'index']
    assert not is_complete(str(tmp_path))


@pytest.mark.parametrize('name', ['', '.', '..', 'a/b', '/a'])
def test_names(tmp_path, name):
    with pytest.raises(ValueError):
        save_together(str(tmp_path), {'data': put(b'1'), name: put(b'2')})
    assert listing(tmp_path) == []


def test_one_at_a_time(tmp_path):
    (tmp_path / '.staging').mkdir()
    with pytest.raises(FileExistsError):
        save_together(str(tmp_path), {'data': put(b'1')})
    assert listing(tmp_path) == ['.staging']
