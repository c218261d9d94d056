import pytest

from parcels.cli import main
from parcels.store import Store

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
FIRST, SECOND = "NP000000014DE", "NP000000028DE"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARCELS_DB", raising=False)
    for _ in range(2):
        main(["register", "--to", ADA, "--weight", "1 kg", "--on", "2026-01-20"])


@pytest.fixture
def late(capsys):
    def run(day, *more):
        capsys.readouterr()
        assert main(["late", "--on", day, *more]) == 0
        return capsys.readouterr().out

    return run


def scan(number, day, status="in_transit"):
    assert main(["scan", number, "Depot Nord", "--on", day, "--status", status]) == 0


def test_longest_wait_first(late):
    scan(FIRST, "2026-02-03")
    scan(SECOND, "2026-02-01", "handed_over")
    assert late("2026-02-06") == f"{SECOND} 5 days\n{FIRST} 3 days\n"


def test_days(late):
    scan(FIRST, "2026-02-03")
    assert late("2026-02-05") == ""
    assert late("2026-02-05", "--days", "2") == f"{FIRST} 2 days\n"


def test_only_parcels_under_way(late):
    scan(FIRST, "2026-02-01", "delivered")
    assert late("2026-02-20") == ""


def test_message(late):
    scan(FIRST, "2026-02-01")
    late("2026-02-06")
    with Store("parcels.db") as store:
        (message,) = store.pending()
    assert message.channel != "general"
    assert message.subject == f"Parcel {FIRST}: no scan since 2026-02-01"
    assert message.body == "Last seen at Depot Nord, 5 days ago."


def test_no_alert_twice(late):
    scan(FIRST, "2026-02-01")
    assert late("2026-02-06")
    assert late("2026-02-07") == ""
    main(["flush", "relay.jsonl"])
    assert late("2026-02-08") == ""
    scan(FIRST, "2026-02-08")
    assert late("2026-02-12") == f"{FIRST} 4 days\n"
