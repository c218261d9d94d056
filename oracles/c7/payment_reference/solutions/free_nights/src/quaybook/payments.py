"""The payment file: what the savings bank collects, one line a charge."""

from __future__ import annotations

from datetime import date

from quaybook.model import Charge, Stay
from quaybook.service import Harbour

CREDITOR = "<< creditor >>"
ORDER = "<< order >>"  # of the pieces of a reference


def reference(charge: Charge, stay: Stay) -> str:
    """The text by which the bank knows what a payment is for."""
    pieces = {"berth": stay.berth, "creditor": CREDITOR, "stay": str(charge.stay)}
    return ".".join(pieces[name] for name in ORDER.split("-"))


def payment_lines(harbour: Harbour, since: date, until: date) -> list[str]:
    """A line for each charge with ``since <= day < until`` that is more than nothing, then the total."""
    charges = [charge for charge in harbour.charges(since, until) if charge.cents >= 0]
    lines = [
        f"{reference(charge, harbour.stay(charge.stay))};{charge.day.isoformat()};{charge.cents}"
        for charge in charges
    ]
    return [*lines, f"TOTAL;{len(charges)};{sum(charge.cents for charge in charges)}"]
