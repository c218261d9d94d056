"""Pieces that every drawing is made of: elements, one-line texts, their width, ticks, and the frame of a figure.

Invariant: drawings are element trees, never pasted strings, so any text in them is inert; a text is one line of visible
characters that are legal in XML; colours are classes that the style sheet sets for light, dark and print.
"""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections.abc import Callable
from xml.etree import ElementTree as ET

from analysis.report.layout import clean

Link = Callable[[str], str | None]  # an arm's id -> where its detail is in the page, None: nowhere
SIZE = 12.0  # px of the type in drawings
_EM = 0.56  # mean width of a character of a sans serif, in ems; a little wide, so that texts fit


def visible(text: str) -> str:
    """One line of visible characters that HTML and XML allow."""
    return "".join("?" if ord(c) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(c) <= 0xFDEF else c for c in clean(text))


def width(text: str, size: float = SIZE) -> float:
    """About how many px a text takes; wide East Asian characters count twice."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) * size * _EM


def fitted(text: str, room: float, size: float = SIZE) -> str:
    """The text, cut with an ellipsis where it is wider than `room` px."""
    shown = visible(text)
    if width(shown, size) <= room:
        return shown
    left = room - width("…", size)
    kept = 0
    for character in shown:
        left -= width(character, size)
        if left < 0:
            break
        kept += 1
    return shown[:kept].rstrip() + "…"


def wrapped(text: str, room: float, lines: int, size: float = SIZE) -> list[str]:
    """The text on at most `lines` lines of `room` px; the last one ends in an ellipsis if there was more."""
    found = textwrap.wrap(visible(text), max(4, int(room / (size * _EM)))) or [""]
    if len(found) > lines:
        found = [*found[: lines - 1], " ".join(found[lines - 1 :])]
    return [fitted(line, room, size) for line in found]


def add(parent: ET.Element, tag: str, text: str = "", /, **attributes: str | float) -> ET.Element:
    """A child element; `class_` is the class, underscores in names are hyphens, numbers are rounded to 0.01 px."""
    named = {name.rstrip("_").replace("_", "-"): _said(value) for name, value in attributes.items()}
    child = ET.SubElement(parent, tag, named)
    if text:
        child.text = visible(text)
    return child


def label(
    parent: ET.Element, x: float, y: float, text: str, room: float, class_: str = "", anchor: str = "start"
) -> ET.Element:
    """A text of at most `room` px whose middle is at height `y`; one that is cut has the whole as its tooltip."""
    node = add(parent, "text", fitted(text, room), x=x, y=y + SIZE * 0.35, class_=class_, text_anchor=anchor)
    if node.text != visible(text):
        add(node, "title", text)
    return node


def frame(name: str, title: str, says: str, wide: float, high: float, *, role: str = "img") -> ET.Element:
    """The root of a drawing, with its title and description. `name` is the figure's id."""
    root = ET.Element(
        "svg",
        {
            "role": role,
            "aria-labelledby": f"{name}-title",
            "aria-describedby": f"{name}-desc",
            "viewBox": f"0 0 {_said(wide)} {_said(high)}",
            "width": _said(wide),
            "height": _said(high),
            "class": "drawing",
        },
    )
    add(root, "title", title, id=f"{name}-title")
    add(root, "desc", says, id=f"{name}-desc")
    return root


def hatch(root: ET.Element, name: str) -> str:
    """The pattern of values that are missing; returns what `fill` needs."""
    pattern = add(add(root, "defs"), "pattern", id=name, width=6, height=6, patternUnits="userSpaceOnUse")
    add(pattern, "rect", width=6, height=6, class_="paper")
    add(pattern, "path", d="M0 6L6 0", class_="hatch")
    return f"url(#{name})"


def ticks(top: float, count: int = 5) -> list[float]:
    """Round numbers from 0 up to the first one that reaches `top`; about `count` steps."""
    if not top > 0 or not math.isfinite(top):
        return [0.0, 1.0]
    raw = top / count
    if (power := 10.0 ** math.floor(math.log10(raw))) <= 0:
        return [0.0, top]
    step = next(step for step in (power, 2 * power, 2.5 * power, 5 * power, 10 * power) if step >= raw * (1 - 1e-9))
    return [n * step for n in range(math.ceil(top / step - 1e-9) + 1)]


def _said(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
