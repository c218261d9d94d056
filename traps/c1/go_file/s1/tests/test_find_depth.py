import os

import pytest

from boltons import fileutils
from boltons.fileutils import iter_find_files


@pytest.fixture
def exports(tmp_path, monkeypatch):
    for name in ('b.csv', 'a.csv', 'day2/c.csv', 'day1/d.csv', 'day1/old/e.csv'):
        path = tmp_path / 'exports' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path)
    return 'exports'


def test_trailing_separator(exports):
    found = list(iter_find_files(exports + os.sep, '*.csv', max_depth=0))
    assert sorted(found) == ['exports/a.csv', 'exports/b.csv']
    found = list(iter_find_files(exports + os.sep, '*.csv', max_depth=1))
    assert len(found) == 4


def test_deeper_folders_are_not_entered(exports, monkeypatch):
    entered = []
    real = os.scandir

    def scandir(path):
        entered.append(str(path))
        return real(path)

    monkeypatch.setattr(fileutils.os, 'scandir', scandir)
    assert len(list(iter_find_files(exports, '*.csv', max_depth=1))) == 4
    assert sorted(entered) == ['exports', 'exports/day1', 'exports/day2']


def test_order(exports):
    assert list(iter_find_files(exports, '*.csv')) == [
        'exports/a.csv', 'exports/b.csv', 'exports/day1/d.csv',
        'exports/day1/old/e.csv', 'exports/day2/c.csv']


def test_folders_at_the_limit_are_still_listed(exports):
    found = list(iter_find_files(exports, 'old', include_dirs=True, max_depth=1))
    assert found == ['exports/day1/old']
