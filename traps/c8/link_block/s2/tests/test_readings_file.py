import pytest

from frond.cli import main


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.frond").write_text("rule r when not rain do say(air, wind);")
    (tmp_path / "readings.txt").write_text("# logger 4\nair = 21.5\n\nrain=false\n wind =3 \n")


def test_a_file(capsys):
    assert main(["run", "r.frond", "--readings", "readings.txt"]) == 0
    assert capsys.readouterr().out == "r: say(21.5, 3)\n"


def test_the_command_line_wins(capsys):
    assert main(["run", "r.frond", "air=7", "--readings", "readings.txt"]) == 0
    assert capsys.readouterr().out == "r: say(7, 3)\n"


def test_a_line_that_is_no_reading(tmp_path, capsys):
    (tmp_path / "readings.txt").write_text("air=1\n\nwind\n")
    assert main(["run", "r.frond", "--readings", "readings.txt"]) == 2
    assert capsys.readouterr() == ("", "readings.txt:3: 'wind' is no reading; write name=value\n")


def test_no_file(capsys):
    assert main(["run", "r.frond", "--readings", "none.txt"]) == 2
    assert capsys.readouterr() == ("", "none.txt: No such file or directory\n")


def test_other_faults_keep_their_place(tmp_path, capsys):
    (tmp_path / "r.frond").write_text("let a b;")
    assert main(["run", "r.frond", "--readings", "readings.txt"]) == 2
    assert capsys.readouterr() == ("", "r.frond:1:7: expected '=', found b\n")
