"""Tables for the last line of a notebook cell, in every form that a front end may want."""

from tabulate import _normalize_tabular_data, tabulate

#: By this the sorting panel takes a table as data.
PANEL_KIND = "application/<< sheet >>+json"

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
            [cell if cell is None else str(cell) for cell in row]
            for row in self._rows
        ]
        return {"columns": self._headers, "rows": rows}


def bundle(tabular, headers=(), include=None, exclude=None):
    """The forms of a table by media type, as `_repr_mimebundle_` of a front end wants them."""
    return Table(tabular, headers)._repr_mimebundle_(include, exclude)
