"""Alignments of columns, short lines, sheets for a printing machine."""

INIT = "tabulate/__init__.py"
PRESS = "tabulate/press.py"

MODULE = '''"""Tables as tagged text, the way a printing machine reads them."""

from decimal import Decimal

#: What the machine draws between the rows and their sum.
CLOSING_LINE = "@LINE@"


def press_sheet(rows, headers, total=None):
    """The lines of one table; with `total`, the label of the sum, there is a row of sums."""
    for number, row in enumerate(rows, 1):
        if len(row) != len(headers):
            raise ValueError(f"row {number} has {len(row)} cells, not {len(headers)}")
    lines = [f"TABLE|{len(headers)}", _line("HEAD", headers)]
    lines += [_line("ROW", row) for row in rows]
    if total is not None:
        sums = [_sum([row[n] for row in rows]) for n in range(1, len(headers))]
        lines += [_line("LINE", [CLOSING_LINE]), _line("SUM", [total, *sums])]
    return [*lines, f"END|{len(rows)}"]


def press_bytes(tables):
    """All sheets as the machine takes them: CR LF, Latin-1 and character references."""
    lines = [line for table in tables for line in press_sheet(*table)]
    return "".join(f"{line}\\r\\n" for line in lines).encode("latin-1", "xmlcharrefreplace")


def _line(tag, cells):
    return "|".join([tag, *map(_text, cells)])


def _text(cell):
    text = "" if cell is None else " ".join(str(cell).split())
    return text.replace("\\\\", "\\\\\\\\").replace("|", "\\\\|")


def _sum(cells):
    """The sum of a column, None where it has none."""
    given = [cell for cell in cells if cell is not None]
    if not given or not all(map(_is_number, given)):
        return None
    return sum((Decimal(str(cell)) for cell in given), Decimal(0))


def _is_number(cell):
    return isinstance(cell, (int, float, Decimal)) and not isinstance(cell, bool)
'''


def s1(work, notes):
    work.replace(
        INIT,
        "        assert isinstance(colalign, Iterable)\n"
        "        for idx, align in enumerate(colalign):\n"
        "            aligns[idx] = align\n",
        "        for idx, align in enumerate(_checked_colalign(colalign)[: len(aligns)]):\n"
        "            aligns[idx] = align\n",
    )
    work.replace(
        INIT,
        "def _expand_numparse(",
        "def _checked_colalign(colalign):\n"
        '    """The alignments as a list. Raises ValueError for a text and for what is no alignment."""\n'
        "    if isinstance(colalign, str):\n"
        '        raise ValueError("colalign is a list with one alignment for each column")\n'
        "    aligns = list(colalign)\n"
        "    for number, align in enumerate(aligns, 1):\n"
        '        if align not in ("left", "right", "center", "decimal", None):\n'
        '            raise ValueError(f"colalign: column {number}: {align!r} is no alignment")\n'
        "    return aligns\n"
        "\n\n"
        "def _expand_numparse(",
    )


def s2(work, notes):
    work.replace(INIT, '"h1o:s:F:A:f:"', '"h1o:s:F:A:f:m:"')
    work.replace(INIT, '"align=", "format="]', '"align=", "format=", "missing="]')
    work.insert_after(
        INIT,
        '    -I INTFMT, --int INTFMT   integer point number format (default: "")\n',
        '    -m TEXT, --missing TEXT   text for cells that a line does not have (default: "")\n',
    )
    work.replace(INIT, '    sep = r"\\s+"\n', '    sep = r"\\s+"\n    missing = _DEFAULT_MISSINGVAL\n')
    work.replace(
        INIT,
        '        elif opt in ["-s", "--sep"]:\n',
        '        elif opt in ["-m", "--missing"]:\n            missing = value\n        elif opt in ["-s", "--sep"]:\n',
    )
    text = work.read(INIT)
    for indent in (20, 24):
        text = text.replace(
            "\n" + " " * indent + "colalign=colalign,\n",
            "\n" + " " * indent + "colalign=colalign,\n" + " " * indent + "missingval=missing,\n",
        )
    text = text.replace("            colalign=colalign,\n        ),\n        file=file,\n", "            colalign=colalign,\n            missingval=missingval,\n        ),\n        file=file,\n")
    work.write(INIT, text)
    work.replace(
        INIT,
        "def _pprint_file(fobject, headers, tablefmt, sep, floatfmt, intfmt, file, colalign):\n",
        "def _pprint_file(\n    fobject, headers, tablefmt, sep, floatfmt, intfmt, file, colalign, missingval\n):\n",
    )


def s3(work, notes):
    line = notes.recall("tag", about="rule between rows of a table and its total, print shop", path=PRESS)
    work.write(PRESS, MODULE.replace("@LINE@", line or "rule"))
