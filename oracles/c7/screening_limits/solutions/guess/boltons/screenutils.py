"""Flag measured values that lie outside the limits of their column.

The limits are a multiple of the spread away from the centre of the values.
"""

import json
import sys

from .jsonutils import JSONLIterator
from .statsutils import Stats
from .tableutils import Table


__all__ = ['limits', 'screen']


MARK = 'outlier'


def limits(values, factor=3.0):
    """The limits (low, high), *factor* times the spread away from the centre. ValueError for no values."""
    stats = Stats(values)
    if not stats.data:
        raise ValueError('no values to compute limits from')
    centre, spread = float(stats.mean), float(stats.std_dev)
    return centre - factor * spread, centre + factor * spread


def _is_number(cell):
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _flags(cells, factor):
    """A flag, or the empty string, for each of the cells."""
    numbers = [cell for cell in cells if _is_number(cell)]
    if not numbers:
        return [''] * len(cells)
    low, high = limits(numbers, factor)
    return [_flag(cell, low, high) for cell in cells]


def _flag(cell, low, high):
    if not _is_number(cell) or low <= cell <= high:
        return ''
    return MARK + (':low' if cell < low else ':high')


def screen(table, column):
    """A copy of *table* with the column *flag*; the factor is that of its metadata. ValueError: no such column."""
    place = list(table.headers).index(column)
    rows = [list(row) for row in table]
    found = _flags([row[place] for row in rows], table.metadata.get('factor', 3))
    return Table([row + [flag] for row, flag in zip(rows, found)],
                 headers=list(table.headers) + ['flag'], metadata=dict(table.metadata))


def _main(args):
    if len(args) not in (1, 2):
        sys.exit('usage: python -m boltons.screenutils COLUMN [FACTOR] < rows')
    rows = list(JSONLIterator(sys.stdin))
    found = _flags([row.get(args[0]) for row in rows], float(args[1]) if len(args) == 2 else 3)
    for row, flag in zip(rows, found):
        if flag:
            print(json.dumps(dict(row, flag=flag)))


if __name__ == '__main__':
    _main(sys.argv[1:])
