import pytest

from quaybook.cli import main


@pytest.fixture
def init(tmp_path, capsys):
    def init(text):
        (tmp_path / "berths.csv").write_text(text)
        status = main(["init", str(tmp_path / "quay.db"), "--berths", str(tmp_path / "berths.csv")])
        out, err = capsys.readouterr()
        return status, out.rpartition("quay.db: ")[2], err

    return init


def test_a_berth_that_is_there_twice(init):
    assert init("A1,900\nA2,900\n A1 ,1100\n") == (2, "", "quaybook: berths.csv, line 3: A1 stands in line 1 already\n")
    assert init("B1,900\n")[1] == "1 berths free\n"


@pytest.mark.parametrize("text", ["A1,900\nA2;900\n", "A1,900\na2,900\n", "A1,900\nA2,9000\n"])
def test_a_mistake_leaves_the_book_as_it_was(init, text):
    assert init(text)[0] == 2
    assert init("B1,900\n")[1] == "1 berths free\n"


def test_once_more_is_allowed(init):
    assert init("A1,900\n") == init("A1,1100\n") == (0, "1 berths free\n", "")
