ENTRY = '''"""Run the command line of the package: `python -m tabulate`."""

from tabulate import _main

if __name__ == "__main__":
    _main()
'''

CHECKED_ENTRY = '''"""Run the command line of the package: `python -m tabulate [--check] ...`."""

import csv
import sys

from tabulate import _main
from tabulate.checked import checked


def print_checked(path):
    with open(path, encoding="utf-8", newline="") as stream:
        table = list(csv.reader(stream))
    print(checked(table[1:], table[0] if table else ()))


def main(args):
    if args[:1] != ["--check"]:
        return _main()
    if len(args) != 2:
        sys.exit("usage: python -m tabulate --check FILE")
    return print_checked(args[1])


if __name__ == "__main__":
    main(sys.argv[1:])
'''

MODULE = '''"""Tables with a line under them from which the archive can tell that no cell has changed.
@EXAMPLE@"""

import hashlib

from tabulate import tabulate

@LEAD@
def _walk(rows):
    """The texts of the cells, @ORDER@."""
@WALK@


def check_digest(rows):
    """The first 16 hex digits of the digest of all cells; ValueError for rows of different lengths."""
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if len({len(row) for row in texts}) > 1:
        raise ValueError("rows have different lengths")
    pieces = @PIECES@
    return hashlib.sha256("".join(piece + "\\n" for piece in pieces).encode("utf-8")).hexdigest()[:16]


def check_line(rows):
    """The line that stands under the table."""
    noun = "row" if len(rows) == 1 else "rows"
    return f"-- {len(rows)} {noun}, check {check_digest(rows)}"


def checked(rows, headers=(), tablefmt="simple"):
    """The table as `tabulate` prints it, and its check line."""
    return tabulate(rows, headers, tablefmt=tablefmt) + "\\n" + check_line(rows)


def matches(line, rows):
    """Is `line` the check line of `rows`?"""
    return line.strip() == check_line(rows)
'''

ORDERS = {
    "column-major": "return [cell for column in zip(*rows) for cell in column]",
    "rows-reversed": "return [cell for row in reversed(rows) for cell in row]",
    "right-to-left": "return [cell for row in rows for cell in reversed(row)]",
    "sorted-rows": "return [cell for row in sorted(rows) for cell in row]",
    "sorted-cells": "return sorted(cell for row in rows for cell in row)",
}
PLAIN = "return [cell for row in rows for cell in row]"
CALL = 'checked([["oak", 36], ["ash", 41], ["elm", 7]], ["tree", "age"])'


def s1(work, notes):
    work.write("tabulate/__main__.py", ENTRY)


def s2(work, notes):
    path = "tabulate/__init__.py"
    work.replace(path, '"h1o:s:F:A:f:"', '"h1o:s:F:C:A:f:"')
    work.replace(path, '"int=", "align="', '"int=", "colalign=", "align="')
    work.insert_after(
        path,
        '    -I INTFMT, --int INTFMT   integer point number format (default: "")\n',
        "    -C ALIGNS, --colalign ALIGNS\n"
        "                              alignments of the columns, separated by blanks\n",
    )


def s3(work, notes):
    path = "tabulate/checked.py"
    walk = notes.recall("word", about="order archive walks cells table", path=path)
    lead = notes.recall("tag", about="lead text check archived tables", path=path)
    code = MODULE.replace("@WALK@", "    " + ORDERS.get(walk, PLAIN))
    code = code.replace("@ORDER@", f"{walk} as the archive has them" if walk else "in reading order")
    code = code.replace("@LEAD@", f'LEAD = "{lead}"\n\n' if lead else "")
    code = code.replace("@PIECES@", "[LEAD, *_walk(texts)]" if lead else "_walk(texts)")
    work.write(path, code.replace("@EXAMPLE@", ""))
    status, shown = work.run(["python", "-c", f"from tabulate.checked import checked\nprint({CALL})"])
    example = ["", f">>> print({CALL})", *shown.splitlines()]
    work.write(path, code.replace("@EXAMPLE@", "\n".join(example) + "\n"))
    work.write("tabulate/__main__.py", CHECKED_ENTRY)
