import sqlite3
from datetime import date

import pytest

from quaybook.cli import main
from quaybook.model import Berth, Vessel
from quaybook.schema import STEPS, migrate
from quaybook.service import Harbour
from quaybook.store import Store

COLUMNS = ["pontoon", "opened", "closed", "length_cm", "home"]


def read_view(db):
    [[name]] = db.execute("select name from sqlite_master where type = 'view'").fetchall()
    found = db.execute(f'select * from "{name}"')
    return [column[0] for column in found.description], [tuple(row) for row in found]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "quay.db"
    with Store(path) as store:
        harbour = Harbour(store)
        for name in ("A1", "B1"):
            harbour.add_berth(name, 1600)
        harbour.register(Vessel("NOR-4411", "Gannet", 1180))
        harbour.register(Vessel("DK-207", "Ada", 740, home=True))
        stay = harbour.open_stay("NOR-4411", "B1", date(2026, 2, 27))
        harbour.close_stay(stay.id, date(2026, 3, 3))
        harbour.open_stay("DK-207", "A1", date(2026, 3, 30))
    return path


def test_what_the_district_reads(path):
    db = sqlite3.connect(path)
    columns, rows = read_view(db)
    db.close()
    assert columns == COLUMNS
    assert rows == [("B", "2026-02-27", "2026-03-03", 1180, 0), ("A", "2026-03-30", None, 740, 1)]


def test_a_file_in_use_gets_it():
    db = sqlite3.connect(":memory:", isolation_level=None)
    for step in STEPS[:3]:
        step(db)
    db.execute("pragma user_version = 3")
    assert migrate(db) == len(STEPS) - 3 == 1
    assert read_view(db) == (COLUMNS, [])


@pytest.mark.parametrize(
    ("month", "nights"),
    [((2026, 2), {"B": 2}), ((2026, 3), {"A": 2, "B": 2}), ((2026, 4), {"A": 30}), ((2025, 12), {})],
)
def test_nights_of_a_month(path, month, nights):
    with Store(path) as store:
        found = Harbour(store).nights(*month)
    assert list(found.items()) == list(nights.items())


def test_the_command(path, capsys):
    assert main(["nights", str(path), "--month", "2026-03"]) == 0
    assert capsys.readouterr().out == "A  2\nB  2\n"


@pytest.mark.parametrize("month", ["2026-3", "2026-13", "202603", "2026-03-01", "March"])
def test_no_month(path, month):
    with pytest.raises(SystemExit) as caught:
        main(["nights", str(path), "--month", month])
    assert caught.value.code == 2


def test_a_berth_without_stays_is_not_in_it(store):
    store.add_berth(Berth("C1", 900))
    assert Harbour(store).nights(2026, 3) == {}
