from datetime import date

import pytest

from quaybook.cli import main

JANUARY = (date(2026, 1, 1), date(2026, 2, 1))


@pytest.fixture
def used(harbour):
    for reg, berth, out in (("NOR-4411", "B1", 4), ("DK-207", "A2", 5), ("DK-207", "A1", 6)):
        stay = harbour.open_stay(reg, berth, date(2026, 1, 3))
        harbour.close_stay(stay.id, date(2026, 1, out))
    return harbour


def test_sums_by_letter(used):
    sums = used.dues_by_pontoon(*JANUARY)
    assert list(sums.items()) == [("A", 1120 + 1680), ("B", 2100)]


def test_the_period(used):
    assert used.dues_by_pontoon(date(2026, 1, 5), date(2026, 1, 6)) == {"A": 1120}
    assert used.dues_by_pontoon(date(2026, 2, 1), date(2026, 3, 1)) == {}


def test_the_command(tmp_path, capsys):
    db = str(tmp_path / "quay.db")
    (tmp_path / "berths.csv").write_text("A1,1200\n")
    main(["init", db, "--berths", str(tmp_path / "berths.csv")])
    main(["ask", db, "vessel.register", "reg=X-1", "name=Tern", "length_cm=600"])
    main(["ask", db, "stay.open", "reg=X-1", "berth=A1", "day=2026-01-10"])
    main(["ask", db, "stay.close", "stay=1", "day=2026-01-12"])
    capsys.readouterr()
    assert main(["dues", db, "--since", "2026-01-01", "--until", "2026-02-01"]) == 0
    assert capsys.readouterr().out == "A  1800\n"
    assert main(["dues", db, "--since", "2026-02-01", "--until", "2026-03-01"]) == 0
    assert capsys.readouterr().out == ""
