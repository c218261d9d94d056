"""Customs list: parcels on their way out of the union, with contents and value."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TextIO

from parcels.model import Parcel

COLUMNS = (
    "number",
    "sender",
    "recipient",
    "country",
    "contents",
    "grams",
    "value_cents",
    "declarant",
)

# Our number in the register of the customs office.
DECLARANT = "<< new_number >>"


def select(parcel: Parcel) -> bool:
    return parcel.leaves_eu and not parcel.status.final


def write(parcels: Sequence[Parcel], stream: TextIO) -> None:
    out = csv.writer(stream, delimiter=";", lineterminator="\n")
    out.writerow(COLUMNS)
    for parcel in sorted(parcels, key=lambda p: (p.recipient.country, p.number)):
        out.writerow(_row(parcel))


def _row(parcel: Parcel) -> list[str]:
    return [
        parcel.number,
        parcel.sender.name,
        parcel.recipient.name,
        parcel.recipient.country,
        parcel.contents or "unspecified",
        str(parcel.grams),
        str(parcel.value_cents),
        DECLARANT,
    ]
