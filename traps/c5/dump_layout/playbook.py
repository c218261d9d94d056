"""Containers: copies of caches, a look into queues, dumps."""

CACHES = "boltons/cacheutils.py"
QUEUES = "boltons/queueutils.py"
DUMPS = "boltons/dumputils.py"

MODULE = '''"""Dump containers to JSON lines and load them again.

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
    'cacheutils': '@CACHE@',
    'dictutils': '@DICT@',
    'setutils': '@SET@',
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
        stream.write(json.dumps(line) + '\\n')


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
'''


def s1(work, notes):
    work.replace(
        CACHES,
        "    def copy(self):\n        return self.__class__(max_size=self.max_size, values=self)\n",
        "    def copy(self):\n"
        "        # goes along the linked list: reading entries would count hits and change the order\n"
        "        with self._lock:\n"
        "            ret = self.__class__(max_size=self.max_size, on_miss=self.on_miss)\n"
        "            for key, value in self._get_flattened_ll()[1:]:\n"
        "                ret[key] = value\n"
        "            return ret\n",
    )


def s2(work, notes):
    work.insert_after(
        QUEUES,
        '    def __len__(self):\n        "Return the number of tasks in the queue."\n        return len(self._entry_map)\n',
        "\n"
        "    def __contains__(self, task):\n"
        '        "Whether *task* is waiting in the queue."\n'
        "        return task in self._entry_map\n"
        "\n"
        "    def __iter__(self):\n"
        '        "The tasks in the order in which :meth:`pop` would return them; none is removed."\n'
        "        # no two entries have the same count, so tasks are never compared\n"
        "        return iter([entry[-1] for entry in sorted(self._entry_map.values())])\n",
    )


def s3(work, notes):
    code = MODULE
    for module, slot in (("cacheutils", "@CACHE@"), ("dictutils", "@DICT@"), ("setutils", "@SET@")):
        told = notes.recall("tag", about="layout header dump containers", path=f"boltons/{module}.py")
        code = code.replace(slot, told or "plain")
    work.write(DUMPS, code)
