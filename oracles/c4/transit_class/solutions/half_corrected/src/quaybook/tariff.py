"""Classes of stays, and what a night costs.

The dues office bills by class; the class of a stay is fixed when it is opened.
"""

from __future__ import annotations

from quaybook.model import Vessel

TRANSIT = "<< new_class >>"
HOME = "H-NIGHT"

#: (length up to, cents a night) in rising order; longer vessels pay the last rate.
BANDS = ((600, 900), (900, 1400), (1200, 2100), (1600, 3200))
HOME_PERCENT = 40
FREE_EVERY = 7


def class_for(vessel: Vessel) -> str:
    """The class under which a new stay of this vessel is billed."""
    return HOME if vessel.home else TRANSIT


def per_night(length_cm: int) -> int:
    """Cents a night for a transit vessel of this length."""
    for longest, cents in BANDS:
        if length_cm <= longest:
            return cents
    return BANDS[-1][1]


def dues(vessel: Vessel, nights: int) -> int:
    """Cents for `nights` nights. Every seventh night is free; home vessels pay a part."""
    paid = nights - nights // FREE_EVERY
    cents = per_night(vessel.length_cm) * paid
    return cents * HOME_PERCENT // 100 if vessel.home else cents
