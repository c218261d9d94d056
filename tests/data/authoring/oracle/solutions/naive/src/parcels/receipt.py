"""The receipt that a customer gets at the counter."""

from __future__ import annotations

from datetime import date

from parcels.model import Parcel
from parcels.units import format_amount, format_weight

VAT_PERCENT = 19


def render(parcel: Parcel, cents: int, currency: str, on: date) -> str:
    """The lines of a receipt for a price in cents."""
    to = parcel.recipient
    vat = "no VAT" if parcel.leaves_eu else f"VAT {format_amount(vat_cents(cents), currency)}"
    lines = [
        f"Receipt {parcel.number}, {on.isoformat()}",
        f"{parcel.carrier}, {format_weight(parcel.grams)} to {to.city} {to.country}",
        f"{format_amount(cents, currency)}, {vat}",
    ]
    return "\n".join(lines) + "\n"


def vat_cents(cents: int) -> int:
    """The VAT that a price contains, rounded half up."""
    gross = 100 + VAT_PERCENT
    return (2 * cents * VAT_PERCENT + gross) // (2 * gross)
