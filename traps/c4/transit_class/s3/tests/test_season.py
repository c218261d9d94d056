import sqlite3

import pytest

from quaybook.cli import main
from quaybook.schema import STEPS
from quaybook.store import Store
from quaybook.tariff import TRANSIT


@pytest.fixture
def winter(tmp_path):
    """A file of quaybook 2.3: an open transit stay, a closed one, an open home stay."""
    path = tmp_path / "quay.db"
    db = sqlite3.connect(path, isolation_level=None)
    for step in STEPS[:3]:
        step(db)
    db.execute("pragma user_version = 3")
    for name in ("A1", "A2"):
        db.execute("insert into berths values (?, 1500)", (name,))
    for reg in ("X-1", "X-2"):
        db.execute("insert into vessels values (?, 'Name', 700, 0, null)", (reg,))
    db.execute("insert into stays values (1, 'X-1', 'A1', '2025-06-01', '2025-06-02', 'T-NIGHT')")
    db.execute("insert into stays values (2, 'X-1', 'A1', '2025-11-01', null, 'T-NIGHT')")
    db.execute("insert into stays values (3, 'X-2', 'A2', '2025-11-01', null, 'H-NIGHT')")
    db.execute("insert into charges values (1, 1, '2025-06-02', 1400, 'T-NIGHT A1 1 nights')")
    db.close()
    return path


def test_open_transit_stays_are_moved(winter):
    with Store(winter) as store:
        assert [stay.dues_class for stay in store.open_stays()] == [TRANSIT, "H-NIGHT"]
        assert store.stay(1).dues_class == "T-NIGHT"
    assert TRANSIT != "T-NIGHT"


def test_the_step_is_taken_once(winter):
    for _ in range(2):
        Store(winter).close()
    db = sqlite3.connect(winter)
    assert db.execute("pragma user_version").fetchone() == (len(STEPS),)
    assert db.execute("select reason from charges").fetchall() == [("T-NIGHT A1 1 nights",)]
    db.close()


def test_the_command(winter, capsys):
    assert main(["classes", str(winter)]) == 0
    assert capsys.readouterr().out.splitlines() == sorted(["H-NIGHT  1", f"{TRANSIT}  1"])
