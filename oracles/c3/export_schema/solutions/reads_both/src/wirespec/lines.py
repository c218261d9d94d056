"""Captures as JSON lines, the form in which the archive keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from wirespec._generated import PROTOCOL_VERSION
from wirespec.capture import ARROWS, CaptureError, Entry
from wirespec.codec import decode
from wirespec.errors import WireError

#: Name of this format in the catalogue of the archive.
SCHEMA = "<< new_schema >>"
READABLE = (SCHEMA, "<< old_schema >>")


def to_lines(entries: Iterable[Entry]) -> list[str]:
    """A header and a line for each entry, without line ends."""
    rows = [_row(entry) for entry in entries]
    header = {"schema": SCHEMA, "protocol": PROTOCOL_VERSION, "entries": len(rows)}
    return [json.dumps(row) for row in (header, *rows)]


def from_lines(lines: Iterable[str]) -> list[Entry]:
    """The entries of an export; raises CaptureError."""
    texts = list(lines)
    announced = _announced(texts[0] if texts else "")
    entries = [_entry(text, number) for number, text in enumerate(texts[1:], start=2)]
    if len(entries) != announced:
        raise CaptureError(f"{len(entries)} entries, but the header says {announced}")
    return entries


def _row(entry: Entry) -> dict[str, object]:
    message = refused = None
    try:
        message = decode(entry.data).name
    except WireError as error:
        refused = error.name
    return {
        "at_ms": entry.at_ms,
        "direction": entry.direction,
        "message": message,
        "refused": refused,
        "data": entry.data.hex(),
    }


def _announced(text: str) -> int:
    """How many entries a header speaks of."""
    try:
        header = json.loads(text)
        if header["schema"] in READABLE:
            return int(header["entries"])
    except (ValueError, TypeError, KeyError):
        pass
    raise CaptureError("line 1 is no header of a capture export")


def _entry(text: str, number: int) -> Entry:
    try:
        row = json.loads(text)
        at_ms, direction, data = row["at_ms"], row["direction"], bytes.fromhex(row["data"])
        if type(at_ms) is int and direction in ARROWS:
            return Entry(at_ms, direction, data)
    except (ValueError, TypeError, KeyError):
        pass
    raise CaptureError(f"line {number} is no entry")
