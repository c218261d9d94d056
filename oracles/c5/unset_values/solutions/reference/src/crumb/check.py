"""Everything that is wrong with a book, with file and line.

`resolve` stops at the first mistake; the check goes on. An *error* makes an oven unusable, a *warning* is something
that nobody can have meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from crumb.book import FOLDERS, Book
from crumb.errors import CrumbError, LayerError
from crumb.layers import Layer
from crumb.resolve import Resolved, read, resolve

ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, order=True)
class Problem:
    """`line` is 0 where there is none."""

    source: str
    line: int
    severity: str
    message: str

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}" if self.line else self.source
        return f"{place}: {self.severity}: {self.message}"


def check(book: Book) -> list[Problem]:
    """Problems by file and line, each once."""
    found: set[Problem] = set()
    for read_one in _readers(book):
        try:
            found.update(_layer_problems(read_one(), book))
        except LayerError as error:
            found.add(Problem(error.source, error.line, ERROR, error.message))
    for oven in book.names("oven"):
        try:
            found_here = resolve(book.schema, book.layers(oven))
            settings = {r.setting.name: r for r in found_here if r.value is not None}
        except CrumbError:
            continue  # said above, where the mistake is
        found.update(_oven_problems(oven, settings))
    return sorted(found)


def _readers(book: Book) -> Iterator[Callable[[], Layer]]:
    """One function for each file, which reads it."""
    yield book.company
    for level in FOLDERS:
        for name in book.names(level):
            yield partial(book.layer, level, name)


def _layer_problems(layer: Layer, book: Book) -> Iterator[Problem]:
    for name, raw in layer.values.items():
        try:
            value = read(book.schema, layer, name, raw)
        except LayerError as error:
            yield Problem(error.source, error.line, ERROR, error.message)
            continue
        if layer.level == "company" and value == book.schema.setting(name).default:
            yield Problem(layer.source, layer.line(name), WARNING, f"{name} repeats the default")


def _oven_problems(oven: str, settings: dict[str, Resolved]) -> Iterator[Problem]:
    """What only shows when the layers are put together."""
    source = f"{FOLDERS['oven']}/{oven}.toml"
    idle, top = settings.get("idle.temperature"), settings.get("bake.top")
    if idle and top and idle.value > top.value:
        yield Problem(source, 0, ERROR, f"idles at {idle.text} and bakes at {top.text}")
    mode, burst = settings.get("steam.mode"), settings.get("steam.seconds")
    if mode and burst and mode.value != "off" and burst.value == 0:
        yield Problem(source, 0, WARNING, f"steam is on {mode.value} with bursts of 0 seconds")
