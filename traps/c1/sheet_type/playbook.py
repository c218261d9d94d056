"""Output files, missing cells in wrapped columns, tables for notebooks."""

INIT = "tabulate/__init__.py"
NOTEBOOK = "tabulate/notebook.py"

MODULE = '''"""Tables for the last line of a notebook cell, in every form that a front end may want."""

from tabulate import _normalize_tabular_data, tabulate

#: By this the sorting panel takes a table as data.
PANEL_KIND = "application/@NAME@+json"

_AS_IS = (type(None), bool, int, float, str)


class Table:
    """A table that the front end asks for the forms it can show."""

    def __init__(self, tabular, headers=()):
        rows, headers = _normalize_tabular_data(tabular, headers)
        self._rows = [list(row) for row in rows]
        self._headers = list(map(str, headers))

    def __str__(self):
        return tabulate(self._rows, self._headers)

    def _repr_mimebundle_(self, include=None, exclude=None):
        forms = {
            "text/plain": str(self),
            "text/html": str(tabulate(self._rows, self._headers, tablefmt="html")),
            PANEL_KIND: self._data(),
        }
        return {
            kind: content
            for kind, content in forms.items()
            if (include is None or kind in include) and kind not in (exclude or ())
        }

    def _data(self):
        rows = [
            [cell if type(cell) in _AS_IS else str(cell) for cell in row]
            for row in self._rows
        ]
        return {"columns": self._headers, "rows": rows}


def bundle(tabular, headers=(), include=None, exclude=None):
    """The forms of a table by media type, as `_repr_mimebundle_` of a front end wants them."""
    return Table(tabular, headers)._repr_mimebundle_(include, exclude)
'''


def s1(work, notes):
    work.replace(
        INIT,
        '["help", "header", "output", "sep=",',
        '["help", "header", "output=", "sep=",',
    )
    text = work.read(INIT)
    start = text.index('    with (sys.stdout if outfile == "-" else open(outfile, "w")) as out:\n')
    end = text.index("def _pprint_file(")
    work.write(
        INIT,
        text[:start]
        + "    shown = io.StringIO()\n"
        "    for f in files:\n"
        '        if f == "-":\n'
        "            f = sys.stdin\n"
        "        try:\n"
        "            with nullcontext(f) if _is_file(f) else open(f) as fobj:\n"
        "                _pprint_file(\n"
        "                    fobj,\n"
        "                    headers=headers,\n"
        "                    tablefmt=tablefmt,\n"
        "                    sep=sep,\n"
        "                    floatfmt=floatfmt,\n"
        "                    intfmt=intfmt,\n"
        "                    file=shown,\n"
        "                    colalign=colalign,\n"
        "                )\n"
        "        except OSError as e:\n"
        '            print(f"tabulate: {f}: {e.strerror}", file=sys.stderr)\n'
        "            sys.exit(1)\n"
        '    if outfile == "-":\n'
        "        sys.stdout.write(shown.getvalue())\n"
        "    else:\n"
        '        with open(outfile, "w", encoding="utf-8") as out:\n'
        "            out.write(shown.getvalue())\n"
        "\n\n" + text[end:],
    )
    work.replace(
        INIT,
        "    import getopt\n    import sys\n",
        "    import getopt\n    import sys\n    from contextlib import nullcontext\n",
    )


def s2(work, notes):
    work.replace(
        INIT,
        "        for cell, width, numparse in zip(row, colwidths, numparses):\n",
        "        for cell, width, numparse in zip(row, colwidths, numparses):\n"
        "            if cell is None:  # nothing to wrap\n"
        "                new_row.append(cell)\n"
        "                continue\n"
        "\n"
        "            if isinstance(cell, bytes):\n"
        "                cell = _to_str(cell)\n"
        "\n",
    )


def s3(work, notes):
    name = notes.recall("dotted", about="media type tables notebooks panel", path=NOTEBOOK)
    work.write(NOTEBOOK, MODULE.replace("@NAME@", name or "x-tabulate"))
