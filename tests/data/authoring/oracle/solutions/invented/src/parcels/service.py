"""What the counter does: one method for each job, over a store and the settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TextIO

from parcels import carriers, export, labels, notify, receipt
from parcels.config import Settings
from parcels.errors import InvalidInput, NoCarrier, WrongState
from parcels.model import Address, Parcel, Scan, Status
from parcels.numbers import make_number, normalise
from parcels.store import Store
from parcels.units import parse_amount, parse_weight


class Desk:
    def __init__(self, store: Store, settings: Settings | None = None) -> None:
        self._store = store
        self._settings = settings or Settings()

    def register(
        self,
        to: str,
        weight: str,
        on: date,
        *,
        carrier: str | None = None,
        contents: str = "",
        value: str = "0",
        reference: str = "",
    ) -> Parcel:
        """Take a parcel in: choose the carrier unless one is named, give it a number."""
        recipient = Address.parse(to)
        grams = parse_weight(weight)
        chosen = self._carrier(carrier, grams, recipient.country)
        parcel = Parcel(
            number=make_number(chosen.prefix, self._store.next_serial()),
            carrier=chosen.code,
            sender=Address.parse(self._settings.shop),
            recipient=recipient,
            grams=grams,
            created_on=on,
            contents=contents.strip(),
            value_cents=parse_amount(value),
            reference=reference.strip(),
        )
        if parcel.leaves_eu and not parcel.contents:
            raise InvalidInput("customs wants to know the contents of a parcel that leaves the EU")
        self._store.add(parcel)
        return parcel

    def price_cents(self, number: str) -> int:
        parcel = self.parcel(number)
        price = carriers.by_code(parcel.carrier).price_cents(parcel.grams, parcel.recipient.country)
        if price is None:
            raise NoCarrier(f"{parcel.carrier} has no price for {parcel.number}")
        return price

    def parcel(self, number: str) -> Parcel:
        return self._store.get(normalise(number))

    def parcels(self, status: Status | None = None) -> list[Parcel]:
        return self._store.find(status)

    def label(self, number: str) -> str:
        return labels.render_label(self.parcel(number), self._settings.label_width)

    def sheet(self, numbers: Sequence[str]) -> str:
        chosen = [self.parcel(number) for number in numbers]
        return labels.render_sheet(chosen, self._settings.label_width)

    def receipt(self, number: str, on: date) -> str:
        parcel = self.parcel(number)
        return receipt.render(parcel, self.price_cents(parcel.number), self._settings.currency, on)

    def scan(self, number: str, place: str, status: Status, on: date) -> Parcel:
        """Record a scan; a parcel at its end takes no further one."""
        parcel = self.parcel(number)
        if parcel.status.final:
            raise WrongState(f"{parcel.number} is already {parcel.status.value}")
        if status is Status.CREATED:
            raise WrongState("a parcel is created once")
        self._store.record(Scan(parcel.number, on, place.strip(), status))
        if status is Status.DELIVERED:
            notify.queue(self._store, notify.delivered_message(parcel, place.strip()))
        elif status is Status.RETURNED:
            notify.queue(self._store, notify.returned_message(parcel, place.strip()))
        return self.parcel(number)

    def track(self, number: str) -> list[Scan]:
        return self._store.scans(self.parcel(number).number)

    def export(self, kind: str, stream: TextIO) -> int:
        return export.write(kind, self.parcels(), stream)

    def flush(self, transport: notify.Transport) -> int:
        return notify.flush(self._store, transport)

    def _carrier(self, code: str | None, grams: int, country: str) -> carriers.Carrier:
        if code is None:
            return carriers.cheapest(grams, country)
        carrier = carriers.by_code(code)
        if carrier.price_cents(grams, country) is None:
            raise NoCarrier(f"{carrier.name} does not take {grams} g to {country}")
        return carrier
