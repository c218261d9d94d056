"""From result objects to plain data that JSON can hold.

Invariant: a p stays exact ({"exact": "n/d", "value": float}); what is None stays null; there is no NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction

from analysis.clustered import ClusteredTest
from analysis.gates import Stratum
from analysis.mcnemar import McNemar
from analysis.rates import Rate

_DIGITS = 4000  # beyond these, decimal digits are slow and refused by default

#: Properties that belong into the data beside the fields.
_DERIVED: dict[type, tuple[str, ...]] = {
    ClusteredTest: ("paired", "traps", "score_counts"),
    McNemar: ("n",),
    Rate: ("value",),
    Stratum: ("counts",),
}


def plain(value: object) -> object:
    """The value as dictionaries, lists, text, numbers and None. Raises TypeError or ValueError for what has no form."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no number for a report")
        return value
    if isinstance(value, Fraction):
        return {"exact": exact(value), "value": float(value)}
    if isinstance(value, Decimal):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value)] + list(_DERIVED.get(type(value), ()))
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


def exact(value: Fraction) -> str:
    """ "n/d"; in hexadecimal (0x...) when the decimal digits are beyond 4,000."""
    if value.denominator.bit_length() * 0.302 > _DIGITS:
        return f"{value.numerator:#x}/{value.denominator:#x}"
    return f"{value.numerator}/{value.denominator}"
