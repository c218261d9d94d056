"""Tables as tagged text, the way a printing machine reads them."""

from decimal import Decimal

#: What the machine draws between the rows and their sum.
CLOSING_LINE = "<< closing >>"


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
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1", "xmlcharrefreplace")


def _line(tag, cells):
    return "|".join([tag, *map(_text, cells)])


def _text(cell):
    text = "" if cell is None else " ".join(str(cell).split())
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _sum(cells):
    """The sum of a column, None where it has none."""
    given = [cell for cell in cells if cell is not None]
    if not given or not all(map(_is_number, given)):
        return None
    return sum((Decimal(str(cell)) for cell in given), Decimal(0))


def _is_number(cell):
    return isinstance(cell, (int, float, Decimal)) and not isinstance(cell, bool)
