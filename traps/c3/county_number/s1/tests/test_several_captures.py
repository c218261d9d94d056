import pytest

import wirespec
from wirespec.capture import Entry, format_entry
from wirespec.cli import main


def line(at_ms, text):
    data = wirespec.encode("alarm", {"severity": "info", "cause": 1, "text": text})
    return format_entry(Entry(at_ms, "up", data)) + "\n"


@pytest.fixture
def files(tmp_path):
    texts = [line(5000, "c") + line(9000, "e"), line(1000, "a") + line(5000, "d"), line(2000, "b")]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    return [str(tmp_path / f"{number}.txt") for number in range(len(texts))]


def test_by_time(files, capsys):
    assert main(["report", *files]) == 0
    out = capsys.readouterr().out
    assert out.startswith("5 frames in 8.0 s\n")
    assert [row[-1] for row in out.splitlines() if "!" in row] == ["a", "b", "c", "d", "e"]


def test_one_file_in_any_order(tmp_path, capsys):
    path = tmp_path / "one.txt"
    path.write_text(line(5000, "a") + line(1000, "b"), encoding="utf-8")
    assert main(["report", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["  ! a", "  ! b"]


def test_mistakes_name_the_file(files, tmp_path, capsys):
    bad = tmp_path / "bad.txt"
    bad.write_text(line(1, "a") + "1 > zz\n", encoding="utf-8")
    assert main(["report", files[0], str(bad)]) == 2
    assert capsys.readouterr().err == f"{bad}: line 2 is no capture line\n"
    assert main(["report", str(bad)]) == 2
    assert capsys.readouterr().err == "line 2 is no capture line\n"
    assert main(["report", files[0], str(tmp_path / "none.txt")]) == 2
    assert "none.txt" in capsys.readouterr().err
