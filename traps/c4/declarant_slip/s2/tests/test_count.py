from datetime import date

import pytest

from parcels.cli import main
from parcels.model import Status

TO = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
DAY = date(2026, 8, 17)


def test_by_status_in_their_order(desk):
    numbers = [desk.register(TO, weight, DAY, carrier=c).number
               for weight, c in (("1 kg", "kurier"), ("2 kg", "kurier"), ("250 g", "nordpost"))]
    assert desk.count() == [(Status.CREATED, 3, 3250)]
    desk.scan(numbers[0], "Hamburg", Status.RETURNED, DAY)
    desk.scan(numbers[2], "Depot", Status.IN_TRANSIT, DAY)
    assert desk.count() == [(Status.CREATED, 1, 2000), (Status.IN_TRANSIT, 1, 250), (Status.RETURNED, 1, 1000)]
    assert desk.count("kurier") == [(Status.CREATED, 1, 2000), (Status.RETURNED, 1, 1000)]
    assert desk.count("bahnexpress") == []


def test_the_command(tmp_path, capsys):
    db = ["--db", str(tmp_path / "desk.db")]
    assert main([*db, "count"]) == 0
    assert capsys.readouterr().out == ""
    for weight in ("1 kg", "30 kg"):
        main([*db, "register", "--to", TO, "--weight", weight, "--carrier", "kurier"])
    capsys.readouterr()
    assert main([*db, "count", "--carrier", "kurier"]) == 0
    assert capsys.readouterr().out.split() == ["created", "2", "31.0", "kg"]
    with pytest.raises(SystemExit):
        main([*db, "count", "--carrier", "rocket"])
