import pytest

from quaybook.cli import main


@pytest.fixture
def db(tmp_path, capsys):
    (tmp_path / "berths.csv").write_text("A1,1200\nA2,800\nB12,1605\n")
    path = str(tmp_path / "quay.db")
    assert main(["init", path, "--berths", str(tmp_path / "berths.csv")]) == 0
    capsys.readouterr()
    return path


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ([], "A1   12.00\nA2   8.00\nB12  16.05\n"),
        (["--length", "1000"], "A1   12.00\nB12  16.05\n"),
        (["--length", "1606"], ""),
    ],
)
def test_free_berths(db, capsys, words, out):
    assert main(["free", db, *words]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("length", ["ten", "10.5", "-1"])
def test_no_length(db, length):
    with pytest.raises(SystemExit) as caught:
        main(["free", db, f"--length={length}"])
    assert caught.value.code == 2
