from datetime import date

import pytest

from parcels.cli import main
from parcels.errors import InvalidInput, WrongState
from parcels.manifest import render, zone

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
DAY = date(2026, 3, 16)


@pytest.mark.parametrize(
    ("country", "expected"), [("DE", "home"), ("AT", "union"), ("CY", "union"), ("CH", "abroad")]
)
def test_zones(country, expected):
    assert zone(country) == expected


def test_lines_of_a_sheet(make_parcel):
    lines = render("nordpost", DAY, [make_parcel(2, grams=750), make_parcel(1)]).splitlines()
    assert lines[:4] == [
        "nordpost 2026-03-16",
        "NP000000014DE 1.2 kg DE",
        "NP000000028DE 750 g DE",
        "2 parcels, 1.95 kg",
    ]
    assert len(lines) == 5
    assert lines[4].startswith("seal ")


def test_what_waits(desk):
    first = desk.register(ADA, "1 kg", DAY, carrier="kurier").number
    desk.register(ADA, "1 kg", DAY)
    lines = desk.manifest("kurier", DAY).splitlines()
    assert lines[1].startswith(first)
    assert lines[2] == "1 parcel, 1.0 kg"


def test_nothing_waits(desk):
    with pytest.raises(WrongState, match="nothing waits for kurier"):
        desk.manifest("kurier", DAY)
    with pytest.raises(InvalidInput):
        desk.manifest("rocket", DAY)


def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARCELS_DB", raising=False)
    assert main(["register", "--to", ADA, "--weight", "1 kg", "--on", "2026-03-13"]) == 0
    capsys.readouterr()
    assert main(["manifest", "nordpost", "--on", "2026-03-16"]) == 0
    assert capsys.readouterr().out.startswith("nordpost 2026-03-16\nNP000000014DE 1.0 kg DE\n")
    assert main(["manifest", "kurier"]) == 1
    assert capsys.readouterr().err == "parcels: nothing waits for kurier\n"
