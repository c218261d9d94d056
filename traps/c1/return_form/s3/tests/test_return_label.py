import pytest

from parcels.cli import main

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
NUMBER = "NP000000014DE"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARCELS_DB", raising=False)


@pytest.fixture
def output(capsys):
    def run(*args):
        capsys.readouterr()
        status = main(list(args))
        return status, capsys.readouterr().out

    return run


def deliver(number):
    assert main(["scan", number, "Hamburg", "--status", "delivered", "--on", "2026-02-01"]) == 0


def register(reference=""):
    main(["register", "--to", ADA, "--weight", "1.2 kg", "--reference", reference])


def test_addresses_are_exchanged(output):
    register("A-17")
    deliver(NUMBER)
    status, text = output("return-label", NUMBER)
    lines = [line[2:-2].rstrip() for line in text.splitlines()]
    assert status == 0
    assert lines[lines.index("From:") + 1] == "  Ada Brandt"
    assert lines[lines.index("To:") + 1] == "  Parcel Desk"
    assert "Ref A-17" in lines
    assert "NP 0000 0001 4 DE" in text


def test_one_a_page(output):
    register()
    register()
    deliver(NUMBER)
    deliver("NP000000028DE")
    _, text = output("return-label", NUMBER, "NP000000028DE")
    assert len(text.split("\f")) == 2


def test_only_delivered_parcels(output):
    register()
    register()
    deliver(NUMBER)
    assert output("return-label", NUMBER, "NP000000028DE") == (1, "")


def test_outgoing_labels_stay(output):
    register("A-17")
    _, before = output("label", NUMBER)
    assert before.splitlines()[-2].strip("| ") == "Ref A-17"
