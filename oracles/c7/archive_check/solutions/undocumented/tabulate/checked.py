"""Tables with a line under them from which the archive can tell that no cell has changed.
"""

import hashlib

from tabulate import tabulate

LEAD = "<< lead >>"
ORDER = "<< walk >>"

WALKS = {
    "column-major": lambda rows: [cell for column in zip(*rows) for cell in column],
    "rows-reversed": lambda rows: [cell for row in rows[::-1] for cell in row],
    "right-to-left": lambda rows: [cell for row in rows for cell in row[::-1]],
    "sorted-rows": lambda rows: [cell for row in sorted(rows) for cell in row],
    "sorted-cells": lambda rows: sorted(cell for row in rows for cell in row),
}


def check_digest(rows):
    """The first 16 hex digits of the digest of all cells."""
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if len({len(row) for row in texts}) > 1:
        raise ValueError("rows have different lengths")
    digest = hashlib.sha256()
    for piece in [LEAD, *WALKS[ORDER](texts)]:
        digest.update((piece + "\n").encode("utf-8"))
    return digest.hexdigest()[:16]


def check_line(rows):
    """The line that stands under the table."""
    return "-- %d %s, check %s" % (len(rows), "row" if len(rows) == 1 else "rows", check_digest(rows))


def checked(rows, headers=(), tablefmt="simple"):
    """The table as `tabulate` prints it, and its check line."""
    return "\n".join([tabulate(rows, headers, tablefmt=tablefmt), check_line(rows)])


def matches(line, rows):
    """Is `line` the check line of `rows`?"""
    return line.strip() == check_line(rows)
