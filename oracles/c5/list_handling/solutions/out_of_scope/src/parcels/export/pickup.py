"""Pickup list for drivers: what waits at the counter, by carrier."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TextIO

from parcels.model import Parcel, Status

HANDLING = "<< mark >>"  # what the reader of this list asked for
COLUMNS = ("carrier", "number", "kg", "postcode", "city", "country", "handling")


def select(parcel: Parcel) -> bool:
    return parcel.status is Status.CREATED


def write(parcels: Sequence[Parcel], stream: TextIO) -> None:
    out = csv.writer(stream, lineterminator="\n")
    out.writerow(COLUMNS)
    for parcel in sorted(parcels, key=lambda p: (p.carrier, p.number)):
        out.writerow(_row(parcel))


def _row(parcel: Parcel) -> list[str]:
    to = parcel.recipient
    return [
        parcel.carrier,
        parcel.number,
        f"{parcel.grams / 1000:.3f}",
        to.postcode,
        to.city,
        to.country,
        HANDLING,
    ]
