import io
import json

import pytest

from boltons.cacheutils import LRI, LRU
from boltons.dictutils import OneToOne, OrderedMultiDict
from boltons.dumputils import dump, load
from boltons.setutils import IndexedSet


def dumped(obj):
    stream = io.StringIO()
    dump(obj, stream)
    return stream.getvalue()


def lines(obj):
    return [json.loads(line) for line in dumped(obj).splitlines()]


def test_a_set():
    assert lines(IndexedSet(['b', 'a', 3])) == [
        {'type': 'IndexedSet', 'version': 1, 'layout': 'plain', 'options': {}}, ['b'], ['a'], [3]]


def test_all_values_of_a_multidict():
    obj = OrderedMultiDict([('a', 1), ('b', 2), ('a', 3)])
    assert lines(obj)[1:] == [['a', 1], ['b', 2], ['a', 3]]


@pytest.mark.parametrize('cls', [LRI, LRU])
def test_a_cache(cls):
    cache = cls(max_size=2, values=[('a', 1), ('b', 2)], on_miss=len)
    cache['a']
    found = lines(cache)
    assert (found[0]['type'], found[0]['version']) == (cls.__name__, 1)
    assert found[0]['options'] == {'max_size': 2}
    assert found[1:] == ([['a', 1], ['b', 2]] if cls is LRI else [['b', 2], ['a', 1]])
    assert cache.hit_count == 1


@pytest.mark.parametrize('obj', [
    LRI(3, [('a', 1)]), LRU(5, [('a', [1, 2]), ('b', None)]), LRU(4), OneToOne({'a': 1}), IndexedSet(), IndexedSet('xyz'),
    OrderedMultiDict([('a', 1), ('b', 2), ('a', 3)]), OrderedMultiDict()])
def test_round_trip(obj):
    found = load(io.StringIO(dumped(obj)))
    assert type(found) is type(obj)
    assert found == obj
    assert getattr(found, 'max_size', None) == getattr(obj, 'max_size', None)


class Sessions(LRU):
    pass


@pytest.mark.parametrize('obj', [{}, [1], Sessions(3), None])
def test_other_types(obj):
    stream = io.StringIO()
    with pytest.raises(TypeError):
        dump(obj, stream)
    assert stream.getvalue() == ''


@pytest.mark.parametrize('text', [
    '', '[]\n', '{}\n', '{"type": "IndexedSet"}\n',
    '{"type": "IndexedSet", "version": 2, "layout": "plain", "options": {}}\n',
    '{"type": "dict", "version": 1, "layout": "plain", "options": {}}\n',
    '{"type": "IndexedSet", "version": 1, "layout": "wide", "options": {}}\n'])
def test_other_headers(text):
    with pytest.raises(ValueError):
        load(io.StringIO(text))
