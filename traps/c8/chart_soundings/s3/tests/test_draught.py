import pytest

from quaybook._places import PLACES
from quaybook.cli import main
from quaybook.handlers import answer
from quaybook.wire import Request


@pytest.mark.parametrize(
    ("berth", "found"),
    [("A1", (1200, 240)), ("A2", (800, 240)), ("B1", (1600, 280)), ("E1", (900, 230)), ("E2", (900, 225)), ("E3", (1000, 220))],
)
def test_the_chart(berth, found):
    assert PLACES[berth][:2] == found


def test_lines_of_the_survey_have_its_day():
    assert [PLACES[berth].since for berth in ("A2", "E1", "E3")] == ["2026-04-07"] * 3
    assert PLACES["B1"].since == "2023-05-02"


@pytest.mark.parametrize(
    ("body", "berths"),
    [
        ({}, ["A1", "A2", "B1", "D1"]),
        ({"draught_cm": 0}, ["A1", "A2", "B1", "D1"]),
        ({"draught_cm": 1}, ["A1", "A2", "B1"]),
        ({"draught_cm": 210}, ["A1", "A2", "B1"]),
        ({"draught_cm": 211}, ["B1"]),
        ({"draught_cm": 210, "length_cm": 900}, ["A1", "B1"]),
        ({"draught_cm": 300}, []),
    ],
)
def test_berths_by_draught(harbour, body, berths):
    harbour.add_berth("D1", 1600)
    assert answer(harbour, Request("1", "berth.free", body)).body == {"berths": berths}


def test_at_the_shell(tmp_path, capsys):
    (tmp_path / "berths.csv").write_text("A1,1200\nE3,1000\n")
    path = str(tmp_path / "quay.db")
    assert main(["init", path, "--berths", str(tmp_path / "berths.csv")]) == 0
    capsys.readouterr()
    assert main(["free", path, "--draught", "200"]) == 0
    assert capsys.readouterr().out == "A1   12.00\n"
    assert main(["free", path, "--draught", "190", "--length", "950"]) == 0
    assert capsys.readouterr().out == "A1   12.00\nE3   10.00\n"
