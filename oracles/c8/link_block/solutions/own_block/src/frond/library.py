"""What the functions of the language do. `grammar/functions.tab` says which there are."""

from __future__ import annotations

import math
from collections.abc import Callable

from frond.errors import RunFault

Value = float | bool | str

LIBRARY: dict[str, Callable[..., Value]] = {}


def implements(name: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    def put(function: Callable[..., Value]) -> Callable[..., Value]:
        LIBRARY[name] = function
        return function

    return put


implements("min")(min)
implements("max")(max)
implements("abs")(abs)


@implements("mean")
def mean(*values: float) -> float:
    return math.fsum(values) / len(values)


@implements("round")
def nearest(value: float) -> float:
    return math.copysign(math.floor(abs(value) + 0.5), value)


def saturation(air: float) -> float:
    """Saturation vapour pressure in kPa (Magnus)."""
    return 0.6112 * math.exp(17.62 * air / (243.12 + air))


@implements("dew_point")
def dew_point(air: float, humidity: float) -> float:
    if not 0 < humidity <= 100:
        raise RunFault(f"a relative humidity of {humidity:g} % cannot be")
    share = math.log(humidity / 100) + 17.62 * air / (243.12 + air)
    return 243.12 * share / (17.62 - share)


@implements("deficit")
def deficit(air: float, humidity: float) -> float:
    return saturation(air) * (1 - humidity / 100)


@implements("is_night")
def is_night(hour: float) -> bool:
    return hour < 6 or hour >= 22


def ordered(low: float, high: float) -> None:
    if low > high:
        raise RunFault(f"the limits {low:g} and {high:g} are the wrong way round")


@implements("clamp")
def clamp(value: float, low: float, high: float) -> float:
    ordered(low, high)
    return min(max(value, low), high)


@implements("is_between")
def is_between(value: float, low: float, high: float) -> bool:
    ordered(low, high)
    return low <= value <= high
