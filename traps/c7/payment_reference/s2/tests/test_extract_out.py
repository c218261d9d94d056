import pytest

from quaybook.cli import main

HEADER = b"day,berth,registration,name,length_m,class\n"


@pytest.fixture
def db(tmp_path, capsys):
    (tmp_path / "berths.csv").write_text("A1,1200\n")
    path = str(tmp_path / "quay.db")
    main(["init", path, "--berths", str(tmp_path / "berths.csv")])
    main(["ask", path, "vessel.register", "reg=X-1", "name=Sølvmåge", "length_cm=700"])
    main(["ask", path, "stay.open", "reg=X-1", "berth=A1", "day=2026-02-27"])
    capsys.readouterr()
    return path


def test_into_a_file(db, tmp_path, capsys):
    out = tmp_path / "february.csv"
    out.write_text("old")
    assert main(["extract", db, "--day", "2026-02-28", "--out", str(out)]) == 0
    header, line = out.read_bytes().splitlines(keepends=True)
    assert header == HEADER
    assert "Sølvmåge" in line.decode("utf-8")
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "february.csv.new").exists()


def test_without_it_as_before(db, capsys):
    assert main(["extract", db, "--day", "2026-02-01"]) == 0
    assert capsys.readouterr().out.encode() == HEADER


def test_no_such_folder(db, tmp_path, capsys):
    assert main(["extract", db, "--day", "2026-02-28", "--out", str(tmp_path / "no" / "x.csv")]) == 2
    assert "quaybook:" in capsys.readouterr().err
