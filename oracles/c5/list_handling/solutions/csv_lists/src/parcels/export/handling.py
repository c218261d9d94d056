"""How a parcel is to be handled: the plain words that the lists use."""

from __future__ import annotations

from parcels.model import Parcel

STANDARD = "standard"
TWO_PERSON = "two-person"
KINDS = (STANDARD, TWO_PERSON)
ONE_PERSON_GRAMS = 20_000


def handling(parcel: Parcel) -> str:
    return TWO_PERSON if parcel.grams > ONE_PERSON_GRAMS else STANDARD
