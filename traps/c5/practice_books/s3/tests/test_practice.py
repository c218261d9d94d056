import json
import sqlite3

import pytest

from quaybook.cli import main
from quaybook.handlers import answer
from quaybook.model import Vessel
from quaybook.schema import STEPS, migrate
from quaybook.service import Harbour
from quaybook.store import Store
from quaybook.wire import Request


@pytest.fixture
def practice(tmp_path, capsys):
    path = tmp_path / "practice.db"
    assert main(["practice", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 2 berths free\n"
    return path


def show(path, capsys):
    assert main(["ask", str(path), "book.show"]) == 0
    return json.loads(capsys.readouterr().out)["body"]


def test_a_book_for_practice(practice, capsys):
    body = show(practice, capsys)
    assert body["owner"]
    assert (body["berths"], body["open"]) == (2, 0)
    with Store(practice) as store:
        assert store.vessel("TRY-1") == Vessel("TRY-1", "Try One", 700)
        assert store.vessel("TRY-2") == Vessel("TRY-2", "Try Two", 1100, home=True)
        assert [(b.name, b.max_cm) for b in store.free_berths(0)] == [("P1", 900), ("P2", 1200)]


def test_taken_berths_count_as_well(practice, capsys):
    assert main(["ask", str(practice), "stay.open", "reg=TRY-1", "berth=P1", "day=2026-05-04"]) == 0
    capsys.readouterr()
    body = show(practice, capsys)
    assert (body["berths"], body["open"]) == (2, 1)


def test_a_book_is_not_made_twice(practice, capsys):
    assert main(["practice", str(practice)]) == 2
    assert capsys.readouterr().err == "quaybook: practice.db holds a book already\n"


def test_a_real_book_is_left_alone(tmp_path, capsys):
    (tmp_path / "berths.csv").write_text("A1,1200\n")
    path = tmp_path / "quay.db"
    assert main(["init", str(path), "--berths", str(tmp_path / "berths.csv")]) == 0
    assert main(["practice", str(path)]) == 2
    with Store(path) as store:
        assert store.vessel("TRY-1") is None
        assert [berth.name for berth in store.free_berths(0)] == ["A1"]


def test_files_in_use_have_an_owner():
    db = sqlite3.connect(":memory:", isolation_level=None)
    for step in STEPS[:3]:
        step(db)
    db.execute("pragma user_version = 3")
    assert migrate(db) == len(STEPS) - 3 == 1
    assert [name for name, value in db.execute("select * from about") if value] == ["owner"]


def test_new_files_have_an_owner():
    with Store() as store:
        body = answer(Harbour(store), Request("1", "book.show")).body
    assert (body["berths"], body["open"]) == (0, 0)
    assert body["owner"]
