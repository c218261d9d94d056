from datetime import date

import pytest

from quaybook.cli import main
from quaybook.handlers import answer
from quaybook.model import Vessel
from quaybook.notices import CALL_WORD, outbound
from quaybook.wire import Request

DAY = date(2026, 2, 8)


@pytest.fixture
def left(harbour):
    for reg, berth in (("NOR-4411", "B1"), ("DK-207", "A2")):
        stay = harbour.open_stay(reg, berth, date(2026, 2, 7))
        harbour.close_stay(stay.id, DAY)
    return harbour


def test_who_left_and_how_many(left):
    assert outbound(left, DAY) == [
        f"{CALL_WORD};2026-02-08;NOR-4411;11.80;Gannet",
        f"{CALL_WORD};2026-02-08;DK-207;7.40;Ada",
        f"{CALL_WORD};2026-02-08;END;2",
    ]


def test_nobody_left(left):
    assert outbound(left, date(2026, 2, 7)) == [f"{CALL_WORD};2026-02-07;END;0"]


def test_the_separator_in_a_name(harbour):
    harbour.register(Vessel("X;1", "Sand; Sea", 700))
    harbour.close_stay(harbour.open_stay("X;1", "A1", DAY).id, DAY)
    assert outbound(harbour, DAY)[0] == f"{CALL_WORD};2026-02-08;X,1;7.00;Sand, Sea"


def test_the_verb(left):
    response = answer(left, Request("1", "lock.outbound", {"day": "2026-02-08"}))
    assert response.body == {"lines": outbound(left, DAY)}


def test_the_command(tmp_path, capsys):
    assert main(["outbound", str(tmp_path / "quay.db"), "--day", "2026-02-08"]) == 0
    assert capsys.readouterr().out == f"{CALL_WORD};2026-02-08;END;0\n"


def test_the_call_word_fits_a_line():
    assert CALL_WORD.strip() == CALL_WORD != ""
    assert ";" not in CALL_WORD
