"""Feed for the depot: every parcel that is not at its end, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

from parcels.export.handling import handling
from parcels.model import Parcel

VERSION = 2


def select(parcel: Parcel) -> bool:
    return not parcel.status.final


def write(parcels: Sequence[Parcel], stream: TextIO) -> None:
    data = {
        "version": VERSION,
        "totals": _totals(parcels),
        "parcels": [_entry(parcel) for parcel in parcels],
    }
    json.dump(data, stream, ensure_ascii=False, indent=2)
    stream.write("\n")


def _entry(parcel: Parcel) -> dict[str, Any]:
    return {
        "number": parcel.number,
        "carrier": parcel.carrier,
        "status": parcel.status.value,
        "grams": parcel.grams,
        "postcode": parcel.recipient.postcode,
        "country": parcel.recipient.country,
        "created_on": parcel.created_on.isoformat(),
        "handling": handling(parcel),
    }


def _totals(parcels: Sequence[Parcel]) -> dict[str, dict[str, int]]:
    """Number and weight of the parcels by carrier, in alphabetical order."""
    totals: dict[str, dict[str, int]] = {}
    for parcel in sorted(parcels, key=lambda p: p.carrier):
        total = totals.setdefault(parcel.carrier, {"parcels": 0, "grams": 0})
        total["parcels"] += 1
        total["grams"] += parcel.grams
    return totals
