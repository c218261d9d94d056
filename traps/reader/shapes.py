"""The registry of text shapes in which a note can carry a value.

A playbook asks for a shape, never for a pattern of its own, so every reader sees every value of that shape,
including those of unrelated notes. Invariant: no shape is specific to one project.
"""

from __future__ import annotations

import re

_NAME = r"[^\W\d_]{2,14}"
_HEX = r"[0-9a-f]{12,24}"

#: shape -> pattern; group 1 is the value.
SHAPES: dict[str, re.Pattern[str]] = {
    "tag": re.compile(rf"(?<![\w-])({_NAME}(?:-{_NAME})*-{_HEX})(?![\w-])"),
    "dotted": re.compile(rf"(?<![\w.])({_NAME}(?:\.{_NAME})*\.{_HEX})(?!\w)"),
    "slashed": re.compile(rf"(?<![\w/])((?:/{_NAME})+/{_HEX})(?![\w/])"),
    "upper": re.compile(r"(?<!\w)([A-Z]{2,10}(?:_[A-Z]{2,10})*_[0-9A-F]{12,24})(?!\w)"),
    "colon": re.compile(rf"(?<![\w:])({_NAME}(?::{_NAME})*:{_HEX})(?!\w)"),
    "word": re.compile(rf"`((?!{_NAME}(?:-{_NAME})*-{_HEX}`)[a-z][a-z0-9]*(?:-[a-z0-9]+)*)`"),
    "count": re.compile(r"`(\d{1,9})`"),
}


def values(shape: str, text: str) -> list[tuple[int, str]]:
    """(offset, value) of every match. Raises KeyError for a shape that is not registered."""
    return [(m.start(1), m.group(1)) for m in SHAPES[shape].finditer(text)]


def all_values(text: str) -> list[tuple[int, str]]:
    """(offset, value) of every match of every shape."""
    return [hit for shape in SHAPES for hit in values(shape, text)]
