from datetime import date

import pytest

from quaybook.cli import main
from quaybook.handlers import answer
from quaybook.payments import payment_lines
from quaybook.wire import Request

MARCH = (date(2026, 3, 1), date(2026, 4, 1))


@pytest.fixture
def march(harbour):
    for reg, berth, out in (("NOR-4411", "B1", 28), ("DK-207", "A2", 25), ("DK-207", "A1", 29)):
        stay = harbour.open_stay(reg, berth, date(2026, 3, 25))
        harbour.close_stay(stay.id, date(2026, 3, out))
    return harbour


def test_a_line_for_each_charge_and_a_total(march):
    first, second, total = payment_lines(march, *MARCH)
    assert first.endswith(";2026-03-28;6300")
    assert second.endswith(";2026-03-29;2240")
    assert total == "TOTAL;2;8540"


def test_the_reference_has_three_pieces(march):
    first, second, _ = [line.split(";")[0].split(".") for line in payment_lines(march, *MARCH)]
    assert len(first) == len(second) == 3
    assert {"B1", "1"} < set(first)
    assert {"A1", "3"} < set(second)
    assert len(set(first) & set(second)) == 1


def test_a_period_without_charges(march):
    assert payment_lines(march, date(2026, 4, 1), date(2026, 5, 1)) == ["TOTAL;0;0"]


def test_the_verb(march):
    response = answer(march, Request("1", "dues.payments", {"since": "2026-03-01", "until": "2026-04-01"}))
    assert response.body == {"lines": payment_lines(march, *MARCH)}


def test_the_command(tmp_path, capsys):
    db = str(tmp_path / "quay.db")
    assert main(["payments", db, "--since", "2026-03-01", "--until", "2026-04-01"]) == 0
    assert capsys.readouterr().out == "TOTAL;0;0\n"
