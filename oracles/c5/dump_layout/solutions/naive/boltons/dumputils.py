"""Dump containers to JSON lines and load them again.

The first line is a header, every other line an entry.
"""

import json

from .cacheutils import LRI, LRU
from .dictutils import OneToOne, OrderedMultiDict
from .jsonutils import JSONLIterator
from .setutils import IndexedSet


__all__ = ['dump', 'load']

VERSION = 1
#: What the header says to those who read the dumps of a module.
LAYOUTS = {
    'cacheutils': 'plain',
    'dictutils': 'plain',
    'setutils': 'plain',
}
_TYPES = {cls.__name__: cls for cls in (LRI, LRU, OrderedMultiDict, OneToOne, IndexedSet)}


def dump(obj, stream):
    """Write *obj* to a text stream. TypeError for all but the five classes."""
    cls = type(obj)
    if _TYPES.get(cls.__name__) is not cls:
        raise TypeError('cannot dump objects of %r' % cls)
    options = {'max_size': obj.max_size} if isinstance(obj, LRI) else {}
    header = {'type': cls.__name__, 'version': VERSION, 'layout': _layout(cls), 'options': options}
    for line in [header] + [list(entry) for entry in _entries(obj)]:
        stream.write(json.dumps(line) + '\n')


def load(stream):
    """The container of a dump. ValueError for a header that `dump` would not write."""
    lines = JSONLIterator(stream)
    cls, options = _read_header(next(lines, None))
    if issubclass(cls, LRI):
        return cls(max_size=options['max_size'], values=list(lines))
    if cls is IndexedSet:
        return cls(item for item, in lines)
    return cls(list(lines))


def _layout(cls):
    return LAYOUTS[cls.__module__.rpartition('.')[2]]


def _entries(obj):
    if isinstance(obj, LRI):
        return obj._get_flattened_ll()[1:]  # without the anchor
    if isinstance(obj, OrderedMultiDict):
        return obj.items(multi=True)
    if isinstance(obj, OneToOne):
        return obj.items()
    return [(item,) for item in obj]


def _read_header(header):
    """The class and the options of a valid header."""
    if not isinstance(header, dict) or set(header) != {'type', 'version', 'layout', 'options'}:
        raise ValueError('the dump has no header')
    cls = _TYPES.get(str(header['type']))
    if cls is None or header['version'] != VERSION:
        raise ValueError('unknown type or version: %r' % header)
    if header['layout'] != _layout(cls):
        raise ValueError('the layout %r is not for %s' % (header['layout'], cls.__name__))
    return cls, header['options']
