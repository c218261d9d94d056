"""Readers, tables and statistics: start positions, texts that line up, screening of values."""

JSONL = "boltons/jsonutils.py"
TABLES = "boltons/tableutils.py"
SCREEN = "boltons/screenutils.py"

MODULE = '''"""Flag measured values that lie outside the limits of their column.

The limits are a multiple of the spread away from the centre of the values.
"""

import json
import sys

from .jsonutils import JSONLIterator
from .statsutils import Stats
from .tableutils import Table


__all__ = ['limits', 'screen']


@MARK@


def limits(values, factor=3.0):
    """The limits (low, high), *factor* times the spread away from the centre. ValueError for no values."""
    stats = Stats(values)
    if not stats.data:
        raise ValueError('no values to compute limits from')
    centre, spread = float(stats.@CENTRE@), float(stats.@SPREAD@)
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
'''

CENTRES = ("mean", "median", "trimean")
SPREADS = {"std": "std_dev", "mad": "mad", "iqr": "iqr"}


def s1(work, notes):
    work.replace(JSONL, "            rel_seek = 1.0 - rel_seek\n", "            rel_seek = 1.0 + rel_seek\n")
    text = work.read(JSONL)
    start = text.index("        fo, bsize = self._file_obj, self._blocksize\n        cur, total_read = '', 0\n")
    end = text.index("    def _init_rel_seek(self):")
    work.replace(
        JSONL,
        text[start:end],
        "        fo, bsize = self._file_obj, self._blocksize\n"
        "        start, passed = fo.tell(), 0\n"
        "        while True:\n"
        "            cur = fo.read(bsize)\n"
        "            newline = b'\\n' if isinstance(cur, bytes) else '\\n'\n"
        "            if not cur:\n"
        "                fo.seek(0, os.SEEK_END)\n"
        "                return\n"
        "            if newline in cur:\n"
        "                fo.seek(start + passed + cur.index(newline))\n"
        "                return\n"
        "            passed += len(cur)\n"
        "\n",
    )


def s2(work, notes):
    text = work.read(TABLES)
    start = text.index("        lines = []\n        widths = []\n        headers = list(self.headers)\n")
    end = text.index("        for row in text_data:\n            lines.append(' | '.join([cell.center(widths[j])")
    work.replace(
        TABLES,
        text[start:end],
        "        lines = []\n"
        "        widths = []\n"
        "        headers = [to_text(header, maxlen=maxlen) for header in self.headers]\n"
        "        with_headers = with_headers and bool(headers)\n"
        "        headers += [''] * (self._width - len(headers))\n"
        "        text_data = [[to_text(cell, maxlen=maxlen) for cell in row]\n"
        "                     for row in self._data]\n"
        "        for idx in range(self._width):\n"
        "            cur_widths = [len(row[idx]) for row in text_data]\n"
        "            if with_headers:\n"
        "                cur_widths.append(len(headers[idx]))\n"
        "            widths.append(max(cur_widths, default=0))\n"
        "        if with_headers:\n"
        "            lines.append(' | '.join([h.center(widths[i])\n"
        "                                     for i, h in enumerate(headers)]))\n"
        "            lines.append('-|-'.join(['-' * w for w in widths]))\n",
    )


def s3(work, notes):
    basis = notes.recall("word", about="centre spread of a screening settled", path=SCREEN)
    mark = notes.recall("tag", about="mark of our screening flag loader", path=SCREEN)
    centre, _, spread = (basis or "").partition("-")
    if centre not in CENTRES or spread not in SPREADS:
        centre, spread = "mean", "std"
    code = MODULE.replace("@CENTRE@", centre).replace("@SPREAD@", SPREADS[spread])
    line = f"MARK = '{mark}'  # the loader of the warehouse looks for it" if mark else "MARK = 'outlier'"
    work.write(SCREEN, code.replace("@MARK@", line))
