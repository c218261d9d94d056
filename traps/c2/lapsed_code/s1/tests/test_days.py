from datetime import date

import pytest

from quaybook.cli import main
from quaybook.errors import BadRequest
from quaybook.handlers import answer
from quaybook.wire import Fields, Request, day_of

WRONG = ["2026-02-30", "20260202", "2026-W06-1", "2026-2-2", "today", "2026-02-02T00:00", "٢٠٢٦-٠٢-٠٢"]


def test_a_day():
    assert day_of("2026-02-28") == date(2026, 2, 28)


@pytest.mark.parametrize("text", WRONG)
def test_no_day(text):
    with pytest.raises(ValueError, match="."):
        day_of(text)
    with pytest.raises(BadRequest) as caught:
        Fields({"until": text}).day("until")
    assert str(caught.value) == f"until: {text} is no day (YYYY-MM-DD)"


def test_the_office_goes_on(harbour):
    body = {"reg": "NOR-4411", "berth": "A1", "day": "2026-02-30"}
    response = answer(harbour, Request("1", "stay.open", body))
    assert (response.ok, response.code) == (False, "bad-request")
    assert harbour.open_stays() == []


def test_the_command_line(tmp_path, capsys):
    db = str(tmp_path / "quay.db")
    assert main(["extract", db, "--day", "2026-02-02"]) == 0
    with pytest.raises(SystemExit) as caught:
        main(["extract", db, "--day", "20260202"])
    assert caught.value.code == 2
