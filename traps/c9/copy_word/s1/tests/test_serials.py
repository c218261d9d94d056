import sqlite3
from datetime import date

import pytest

from parcels.errors import InvalidInput
from parcels.numbers import make_number
from parcels.service import Desk
from parcels.store import Store

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
DAY = date(2026, 4, 6)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "desk.db")


def remove(path, number):
    with sqlite3.connect(path) as db:
        db.execute("delete from parcels where number = ?", (number,))
    db.close()


def test_goes_on_from_the_highest(path):
    with Store(path) as store:
        numbers = [Desk(store).register(ADA, "1 kg", DAY).number for _ in range(3)]
    remove(path, numbers[0])
    with Store(path) as store:
        assert store.next_serial() == 4
        assert Desk(store).register(ADA, "1 kg", DAY).number == make_number("NP", 4)


def test_one_series_for_all_carriers(store, make_parcel):
    assert store.next_serial() == 1
    store.add(make_parcel(number=make_number("KW", 90), carrier="kurier"))
    store.add(make_parcel(number=make_number("NP", 7)))
    assert store.next_serial() == 91


def test_the_end_of_the_series(store, make_parcel):
    store.add(make_parcel(number=make_number("BX", 10**8 - 1), carrier="bahnexpress"))
    with pytest.raises(InvalidInput):
        Desk(store).register(ADA, "1 kg", DAY)
