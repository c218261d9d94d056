import csv
import io
import json

import pytest

from parcels.cli import main

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
UELI = "Ueli Frei; Seestrasse 8; 8002; Winterthur; CH"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARCELS_DB", raising=False)
    for weight in ("20 kg", "20.001 kg", "1 kg"):
        main(["register", "--to", ADA, "--weight", weight])
    main(["register", "--to", UELI, "--weight", "2 kg", "--contents", "tea"])


@pytest.fixture
def output(capsys):
    def run(*args):
        capsys.readouterr()
        status = main(["export", *args])
        return status, capsys.readouterr().out

    return run


def test_pickup(output):
    _, text = output("pickup")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0])[-1] == "handling"
    assert {row["kg"]: row["handling"] for row in rows} == {
        "20.000": "standard",
        "20.001": "two-person",
        "1.000": "standard",
        "2.000": "standard",
    }


def test_customs_has_the_column(output):
    _, text = output("customs")
    (row,) = csv.DictReader(io.StringIO(text), delimiter=";")
    assert list(row)[-1] == "handling"
    assert row["handling"]


def test_feed(output):
    _, text = output("feed")
    data = json.loads(text)
    assert data["version"] == 2
    assert [entry["handling"] for entry in data["parcels"]].count("two-person") == 1


def test_pickup_of_one_handling(output):
    _, text = output("pickup", "--handling", "two-person")
    assert [row["kg"] for row in csv.DictReader(io.StringIO(text))] == ["20.001"]
    _, text = output("pickup", "--handling", "standard")
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize("kind", ["customs", "feed"])
def test_the_option_is_for_pickup(output, kind, tmp_path):
    assert output(kind, "--handling", "standard") == (1, "")
    assert output(kind, "--handling", "standard", "--output", "list.txt") == (1, "")
    assert not (tmp_path / "list.txt").exists()
