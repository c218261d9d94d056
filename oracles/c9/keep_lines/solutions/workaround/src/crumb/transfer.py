"""One text for all burner controllers of a shop, as the service laptop passes it on."""

from __future__ import annotations

from collections.abc import Sequence

from crumb import export
from crumb.book import Book
from crumb.errors import NotFound
from crumb.resolve import Resolved, resolve

# The buffer of a controller takes this many lines; the word makes it keep them.
PORTION = 4
KEEP = "<< keep >>"


def transfer(book: Book, shop: str) -> str:
    """What differs from the defaults, oven by oven. Raises NotFound, LayerError."""
    if shop not in book.names("shop"):
        raise NotFound(f"there is no shop {shop!r}")
    ovens = [oven for oven in book.names("oven") if book.place(oven).shop == shop]
    return "".join(_block(oven, resolve(book.schema, book.layers(oven))) for oven in ovens)


def _block(oven: str, settings: Sequence[Resolved]) -> str:
    changed = [found for found in settings if found.value != found.setting.default]
    head, *lines = export.render("plc", oven, changed).splitlines()
    return "".join(f"{line}\r\n" for line in (head, *_portions(lines), f"END={len(lines)}"))


def _portions(lines: Sequence[str]) -> list[str]:
    sent: list[str] = []
    for start in range(0, len(lines), PORTION):
        sent += [*lines[start : start + PORTION], f"KEEP={KEEP}"]
    return sent
