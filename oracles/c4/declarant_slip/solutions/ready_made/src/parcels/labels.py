"""Text labels for the counter's printer.

A label is a frame of `width` characters; what stands in it never touches the frame.
"""

from __future__ import annotations

from collections.abc import Iterable

from parcels import carriers
from parcels.model import Address, Parcel
from parcels.numbers import grouped
from parcels.units import format_weight

MIN_WIDTH = 24
FORM_FEED = "\f"


def render_label(parcel: Parcel, width: int = 40) -> str:
    """The label that goes on an outgoing parcel."""
    inner = _inner_width(width)
    carrier = carriers.by_code(parcel.carrier)
    body = [_spread(carrier.name, format_weight(parcel.grams), inner), ""]
    body += _block("From", parcel.sender, inner)
    body.append("")
    body += _block("To", parcel.recipient, inner)
    body += ["", grouped(parcel.number).center(inner).rstrip()]
    if parcel.reference:
        body.append(_clip(f"Ref {parcel.reference}", inner))
    if parcel.leaves_eu:
        body.append("CD << old_number[4:8] | upper >> << old_number[8:12] | upper >> << old_number[12:] | upper >> << '%02d' | format((old_number[4:] | int(base=16)) % 97) >>")
    return _frame(body, inner)


def render_sheet(parcels: Iterable[Parcel], width: int = 40) -> str:
    """Labels of several parcels, one a page."""
    return FORM_FEED.join(render_label(parcel, width) for parcel in parcels)


def _inner_width(width: int) -> int:
    if width < MIN_WIDTH:
        raise ValueError(f"a label needs at least {MIN_WIDTH} characters")
    return width - 4


def _block(title: str, address: Address, inner: int) -> list[str]:
    return [f"{title}:", *(_clip(f"  {line}", inner) for line in address.lines())]


def _spread(left: str, right: str, inner: int) -> str:
    """`left` and `right` at the two ends of a line; `left` gives way."""
    left = _clip(left, inner - len(right) - 1)
    return left + right.rjust(inner - len(left))


def _clip(text: str, inner: int) -> str:
    return text if len(text) <= inner else text[: inner - 1] + "…"


def _frame(body: list[str], inner: int) -> str:
    edge = "+" + "-" * (inner + 2) + "+"
    return "\n".join([edge, *(f"| {line.ljust(inner)} |" for line in body), edge]) + "\n"
