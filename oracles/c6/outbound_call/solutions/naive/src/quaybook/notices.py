"""Lists for the sea lock: who left the harbour on a day."""

from __future__ import annotations

from datetime import date

from quaybook.extract import metres
from quaybook.service import Harbour

# First in every line; the lock knows lists of this harbour by it.
CALL_WORD = "QUAY"
SEPARATOR = ";"


def outbound(harbour: Harbour, day: date) -> list[str]:
    """A line for each stay that was closed on `day`, then the end line with their number."""
    left = harbour.stays_ended(day)
    lines = [_line(day, vessel.reg, metres(vessel.length_cm), vessel.name) for _, vessel in left]
    return [*lines, _line(day, "END", str(len(left)))]


def _line(day: date, *cells: str) -> str:
    plain = [cell.replace(SEPARATOR, ",") for cell in cells]
    return SEPARATOR.join([CALL_WORD, day.isoformat(), *plain])
