"""The sheet that a driver signs: what the van takes, and the seal for the yard gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from parcels.model import EU, Parcel
from parcels.units import format_weight

HOME = "DE"
SEALS = {
    "home": "<< seal_home >>",
    "union": "<< seal_union >>",
    "abroad": "<< seal_abroad >>",
}


#: What the smallest of makes a parcel the one that decides.
DECIDES = "<< decides >>"
RANKS: dict[str, Callable[[Parcel], int]] = {
    "heaviest": lambda parcel: -parcel.grams,
    "lightest": lambda parcel: parcel.grams,
    "dearest": lambda parcel: -parcel.value_cents,
    "latest": lambda parcel: -parcel.created_on.toordinal(),
    "earliest": lambda parcel: parcel.created_on.toordinal(),
}


def zone(country: str) -> str:
    """The zone of the yard that a country lies in."""
    if country == HOME:
        return "home"
    return "union" if country in EU else "abroad"


def deciding(parcels: Sequence[Parcel]) -> Parcel:
    """The parcel that the yard looks at; of equal ones that with the lower number."""
    return min(parcels, key=lambda parcel: (RANKS[DECIDES](parcel), parcel.number))


def render(carrier: str, day: date, parcels: Sequence[Parcel]) -> str:
    """The sheet for parcels of `carrier`, at least one; a line each, by number."""
    chosen = sorted(parcels, key=lambda parcel: parcel.number)
    lines = [f"{carrier} {day.isoformat()}"]
    lines += [f"{p.number} {format_weight(p.grams)} {p.recipient.country}" for p in chosen]
    noun = "parcel" if len(chosen) == 1 else "parcels"
    lines.append(f"{len(chosen)} {noun}, {format_weight(sum(p.grams for p in chosen))}")
    lines.append(f"seal {SEALS[zone(deciding(chosen).recipient.country)]}")
    return "\n".join(lines) + "\n"
