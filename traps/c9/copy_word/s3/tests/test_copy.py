from datetime import date, timedelta

import pytest

from parcels.cli import main
from parcels.errors import InvalidInput
from parcels.store import Store

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
DAY = date(2026, 4, 21)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_copy_is_a_database(desk, folder):
    parcel = desk.register(ADA, "1 kg", DAY)
    name, removed = desk.copy(folder, DAY, 7)
    assert removed == []
    assert names(folder) == [name]
    with Store(str(folder / name)) as copy:
        assert copy.find() == [parcel]


def test_a_copy_of_the_same_day_is_replaced(desk, folder):
    desk.copy(folder, DAY, 7)
    desk.register(ADA, "1 kg", DAY)
    name, removed = desk.copy(folder, DAY, 7)
    assert (names(folder), removed) == ([name], [])
    with Store(str(folder / name)) as copy:
        assert len(copy.find()) == 1


def test_old_copies_go(desk, folder):
    (folder / "notes.txt").write_text("who has the stick?")
    made = [desk.copy(folder, DAY + timedelta(days=n), 7)[0] for n in range(4)]
    name, removed = desk.copy(folder, DAY + timedelta(days=4), 2)
    assert removed == made[:3]
    assert names(folder) == sorted(["notes.txt", made[3], name])


def test_wrong_input(desk, folder):
    with pytest.raises(InvalidInput, match="no folder"):
        desk.copy(folder / "missing", DAY, 7)
    with pytest.raises(InvalidInput, match="keep at least 1 copy"):
        desk.copy(folder, DAY, 0)
    assert names(folder) == []


def test_command(tmp_path, monkeypatch, capsys, folder):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARCELS_DB", raising=False)
    assert main(["copy", "copies", "--on", "2026-04-20"]) == 0
    assert main(["copy", "copies", "--on", "2026-04-21", "--keep", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["copied", "copied", "removed"]
    assert lines[2] == "removed " + lines[0].removeprefix("copied to ")
    assert main(["copy", "nowhere"]) == 1
    assert capsys.readouterr().err == "parcels: no folder nowhere\n"
