import pytest

from parcels import carriers
from parcels.cli import main
from parcels.errors import NoCarrier


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARCELS_DB", raising=False)


def test_offers_are_sorted_by_price():
    found = [(cents, carrier.code) for cents, carrier in carriers.offers(2000, "DE")]
    assert found == [(549, "nordpost"), (890, "kurier"), (1150, "bahnexpress")]


def test_nobody_offers():
    assert carriers.offers(70_000, "DE") == []
    with pytest.raises(NoCarrier):
        carriers.cheapest(70_000, "DE")


def test_command(capsys):
    assert main(["quote", "--weight", "2 kg", "--country", "fr"]) == 0
    assert capsys.readouterr().out == "nordpost 13.49 EUR\nbahnexpress 18.00 EUR\n"


def test_at_home_unless_said(capsys):
    assert main(["quote", "--weight", "25 kg"]) == 0
    assert capsys.readouterr().out == "bahnexpress 18.90 EUR\nkurier 32.50 EUR\n"


def test_nobody_takes_it(capsys):
    assert main(["quote", "--weight", "70 kg"]) == 1
    assert capsys.readouterr().err == "parcels: no carrier takes 70000 g to DE\n"
