"""What is in the book."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Vessel:
    """`home` vessels have a berth contract; `insured_until` is None when nobody showed a policy."""

    reg: str
    name: str
    length_cm: int
    home: bool = False
    insured_until: date | None = None

    def lapsed_on(self, day: date) -> bool:
        """Whether the insurance had run out before `day`; without a date it is not known to have."""
        return self.insured_until is not None and self.insured_until < day


@dataclass(frozen=True)
class Berth:
    """A place at a pontoon: the letter is the pontoon. `max_cm` is the longest vessel it takes."""

    name: str
    max_cm: int


@dataclass(frozen=True)
class Stay:
    """A vessel at a berth. It is open while `closed` is None."""

    id: int
    reg: str
    berth: str
    opened: date
    dues_class: str
    closed: date | None = None


@dataclass(frozen=True)
class Charge:
    """What was booked when a stay was closed. Charges are never changed afterwards."""

    id: int
    stay: int
    day: date
    cents: int
    reason: str
