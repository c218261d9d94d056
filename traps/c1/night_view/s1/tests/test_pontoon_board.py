from datetime import date

import pytest

from quaybook.cli import main
from quaybook.errors import BadRequest
from quaybook.store import Store

DAY = date(2026, 2, 2)


def test_lines_of_one_pontoon(harbour):
    harbour.open_stay("NOR-4411", "B1", DAY)
    harbour.open_stay("DK-207", "A2", DAY)
    assert [line[:2] for line in harbour.board()] == ["A2", "B1"]
    assert [line[:2] for line in harbour.board("B")] == ["B1"]
    assert harbour.board("C") == []


@pytest.mark.parametrize("text", ["b", "B1", "AB", " ", "Å"])
def test_what_is_no_pontoon(harbour, text):
    with pytest.raises(BadRequest) as caught:
        harbour.board(text)
    assert str(caught.value) == f"{text!r} is no pontoon"


def test_the_command(tmp_path, capsys):
    path = tmp_path / "quay.db"
    with Store(path):
        pass
    assert main(["board", str(path), "--pontoon", "B"]) == 0
    assert main(["board", str(path), "--pontoon", "b"]) == 2
    assert capsys.readouterr() == ("", "quaybook: 'b' is no pontoon\n")
