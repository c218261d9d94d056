"""What the harbour office does. Every public method is one transaction or only reads."""

from __future__ import annotations

import re
from datetime import date

from quaybook import board, tariff
from quaybook.errors import BadRequest, Conflict, NotFound
from quaybook.model import Berth, Charge, Stay, Vessel
from quaybook.store import Store

BERTH_NAME = re.compile(r"[A-Z][1-9]\d{0,2}")
LONGEST_CM = 4000


class Harbour:
    """The rules, over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def owner(self) -> str:
        """Whose book this is."""
        return self._store.about("owner")

    def give_to(self, owner: str) -> None:
        with self._store.transaction():
            self._store.put_about("owner", owner)

    def count_berths(self) -> int:
        """How many there are, free or not."""
        return self._store.count_berths()

    def add_berth(self, name: str, max_cm: int) -> Berth:
        berth = self.check_berth(name, max_cm)
        with self._store.transaction():
            self._store.add_berth(berth)
        return berth

    def check_berth(self, name: str, max_cm: int) -> Berth:
        """A berth that could be added. Raises BadRequest."""
        if not BERTH_NAME.fullmatch(name):
            raise BadRequest(f"{name!r} is no name of a berth")
        if not 0 < max_cm <= LONGEST_CM:
            raise BadRequest(f"berth {name}: a length of {max_cm} cm cannot be")
        return Berth(name, max_cm)

    def register(self, vessel: Vessel) -> Vessel:
        """Enter a vessel, or write what is new about one that is known."""
        if not vessel.reg or not vessel.name:
            raise BadRequest("a vessel has a registration and a name")
        if not 0 < vessel.length_cm <= LONGEST_CM:
            raise BadRequest(f"{vessel.reg}: a length of {vessel.length_cm} cm cannot be")
        with self._store.transaction():
            self._store.put_vessel(vessel)
        return vessel

    def vessel(self, reg: str) -> Vessel:
        found = self._store.vessel(reg)
        if found is None:
            raise NotFound(f"no vessel {reg}")
        return found

    def free_berths(self, length_cm: int = 0) -> list[Berth]:
        return self._store.free_berths(length_cm)

    def open_stay(self, reg: str, berth: str, day: date) -> Stay:
        """An arrival: the vessel takes the berth, and the pontoon shows it."""
        vessel = self.vessel(reg)
        place = self._store.berth(berth)
        if place is None:
            raise NotFound(f"no berth {berth}")
        if vessel.length_cm > place.max_cm:
            raise Conflict(f"{vessel.name} is too long for berth {berth}")
        for stay in self._store.open_stays():
            if stay.berth == berth:
                raise Conflict(f"berth {berth} is taken")
            if stay.reg == reg:
                raise Conflict(f"{vessel.name} lies at berth {stay.berth}")
        with self._store.transaction():
            opened = self._store.add_stay(reg, berth, day, tariff.class_for(vessel))
            self._store.show(opened.id, board.line(opened, vessel))
        return opened

    def close_stay(self, number: int, day: date) -> Charge:
        """A departure: dues are booked, and the line on the pontoon goes."""
        stay = self._open(number)
        nights = (day - stay.opened).days
        if nights < 0:
            raise Conflict(f"stay {number} began only on {stay.opened}")
        vessel = self.vessel(stay.reg)
        reason = f"{stay.dues_class} {stay.berth} {nights} nights"
        with self._store.transaction():
            self._store.end_stay(number, day)
            self._store.hide(number)
            return self._store.add_charge(number, day, tariff.dues(vessel, nights), reason)

    def open_stays(self) -> list[Stay]:
        return self._store.open_stays()

    def stays_on(self, day: date) -> list[tuple[Stay, Vessel]]:
        """Who has the night after `day`, by berth."""
        return [(stay, self.vessel(stay.reg)) for stay in self._store.stays_on(day)]

    def board(self) -> list[str]:
        return self._store.board()

    def charges(self, since: date, until: date, berth: str = "") -> list[Charge]:
        """What was booked from `since` to before `until`, at one berth or at all."""
        found = self._store.charges(since, until)
        if not berth:
            return found
        if self._store.berth(berth) is None:
            raise NotFound(f"no berth {berth}")
        return [charge for charge in found if self._at(charge.stay) == berth]

    def _at(self, number: int) -> str:
        stay = self._store.stay(number)
        return stay.berth if stay else ""

    def _open(self, number: int) -> Stay:
        stay = self._store.stay(number)
        if stay is None:
            raise NotFound(f"no stay {number}")
        if stay.closed:
            raise Conflict(f"stay {number} was closed on {stay.closed}")
        return stay
