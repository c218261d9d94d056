import pytest

from boltons.cacheutils import LRI, LRU


def used(cls):
    cache = cls(max_size=3, on_miss=str)
    cache['a'], cache['b'], cache['c'] = 1, 2, 3
    assert cache['a'] == 1
    return cache


@pytest.mark.parametrize('cls', [LRI, LRU])
def test_a_copy_is_no_hit(cls):
    cache = used(cls)
    copy = cache.copy()
    assert type(copy) is cls
    assert copy == cache
    assert (cache.hit_count, cache.miss_count) == (1, 0)
    assert (copy.hit_count, copy.miss_count) == (0, 0)


@pytest.mark.parametrize(('cls', 'left'), [(LRI, {'b', 'c', 'd'}), (LRU, {'a', 'c', 'd'})])
def test_order_stays(cls, left):
    cache = used(cls)
    copy = cache.copy()
    cache['d'] = copy['d'] = 4
    assert set(cache) == set(copy) == left


@pytest.mark.parametrize('cls', [LRI, LRU])
def test_on_miss_is_kept(cls):
    copy = used(cls).copy()
    assert copy[7] == '7'


def test_a_copy_is_independent():
    cache = used(LRU)
    copy = cache.copy()
    del copy['a']
    assert cache['a'] == 1
    assert copy.max_size == 3
