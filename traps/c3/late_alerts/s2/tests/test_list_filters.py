from datetime import date

import pytest

from parcels.cli import main
from parcels.model import Status

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"


@pytest.fixture
def numbers(desk):
    days = (date(2026, 1, 8), date(2026, 1, 10), date(2026, 1, 12))
    first = [desk.register(ADA, "1 kg", day, carrier="kurier").number for day in days]
    return first + [desk.register(ADA, "1 kg", days[2]).number]


def found(desk, **filters):
    return [parcel.number for parcel in desk.parcels(**filters)]


def test_by_carrier(desk, numbers):
    assert found(desk, carrier="nordpost") == numbers[3:]


def test_since_includes_the_day(desk, numbers):
    assert found(desk, since=date(2026, 1, 10)) == numbers[1:]


def test_filters_work_together(desk, numbers):
    desk.scan(numbers[1], "Depot", Status.IN_TRANSIT, date(2026, 1, 13))
    assert found(desk, carrier="kurier", since=date(2026, 1, 10)) == numbers[1:3]
    assert (
        found(desk, status=Status.CREATED, carrier="kurier", since=date(2026, 1, 9)) == numbers[2:3]
    )


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARCELS_DB", raising=False)
    main(["register", "--to", ADA, "--weight", "1 kg", "--on", "2026-01-08"])
    main(["register", "--to", ADA, "--weight", "1 kg", "--on", "2026-01-12", "--carrier", "kurier"])
    capsys.readouterr()
    assert main(["list", "--since", "2026-01-09", "--carrier", "kurier"]) == 0
    assert capsys.readouterr().out.startswith("KW")
    assert main(["list", "--since", "2026-01-09", "--carrier", "nordpost"]) == 0
    assert capsys.readouterr().out == ""


def test_unknown_carrier_is_wrong_usage():
    with pytest.raises(SystemExit):
        main(["list", "--carrier", "pigeon"])
