from datetime import date

from quaybook.extract import extract
from quaybook.model import Vessel

DAY = date(2025, 6, 2)


def test_free_berths_are_listed_as_they_lie(harbour):
    for name in ("B20", "A10", "B3", "A101"):
        harbour.add_berth(name, 1500)
    assert [one.name for one in harbour.free_berths()] == ["A1", "A2", "A10", "A101", "B1", "B3", "B20"]
    assert [one.name for one in harbour.free_berths(1300)] == ["A10", "A101", "B1", "B3", "B20"]


def test_so_is_the_extract(harbour):
    for number, berth in enumerate(("A10", "A9", "B2", "A100")):
        harbour.add_berth(berth, 1500)
        harbour.register(Vessel(f"X-{number}", "Name", 700))
        harbour.open_stay(f"X-{number}", berth, DAY)
    lines = extract(harbour, DAY).splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == ["A9", "A10", "A100", "B2"]
