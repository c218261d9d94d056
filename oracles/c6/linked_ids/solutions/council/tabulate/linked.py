"""HTML tables in which every cell names its headings, for programs that read pages aloud."""

from html import escape

#: What the ids of our tables begin with, wherever a page is put together.
ID_PREFIX = "<< council >>"


def linked_html(rows, headers, number, caption=None):
    """One table; `number` is its place in the page, from 1."""
    base = _base(number)
    lines = [f'<table id="{base}">']
    if caption is not None:
        lines.append(f"<caption>{_text(caption)}</caption>")
    columns = [f"{base}-c{n}" for n in range(1, len(headers) + 1)]
    heads = (
        f'<th id="{column}" scope="col">{_text(header)}</th>'
        for column, header in zip(columns, headers)
    )
    lines += ["<thead>", f"<tr>{''.join(heads)}</tr>", "</thead>", "<tbody>"]
    for count, row in enumerate(rows, 1):
        if len(row) != len(headers):
            raise ValueError(f"row {count} has {len(row)} cells, not {len(headers)}")
        lines.append(_row(f"{base}-r{count}", columns, row))
    return "\n".join([*lines, "</tbody>", "</table>"])


def linked_page(tables):
    """All tables of a page, from (rows, headers, caption)."""
    return "\n\n".join(
        linked_html(rows, headers, number, caption)
        for number, (rows, headers, caption) in enumerate(tables, 1)
    )


def row_link(number, row):
    """Where a link to a row of a table leads."""
    if row < 1:
        raise ValueError("rows count from 1")
    return f"#{_base(number)}-r{row}"


def _base(number):
    if number < 1:
        raise ValueError("tables count from 1")
    return f"{ID_PREFIX}-{number}"


def _row(name, columns, row):
    cells = [
        f'<td headers="{column} {name}">{_text(cell)}</td>'
        for column, cell in zip(columns[1:], row[1:])
    ]
    head = f'<th id="{name}" scope="row" headers="{columns[0]}">{_text(row[0])}</th>'
    return f"<tr>{head}{''.join(cells)}</tr>"


def _text(cell):
    return "" if cell is None else escape(str(cell))
