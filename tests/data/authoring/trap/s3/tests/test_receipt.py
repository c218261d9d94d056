from parcels.cli import main


def receipt(capsys, country):
    to = f"Ada Brandt; Hafenweg 3; 20457; Hamburg; {country}"
    main(["register", "--to", to, "--weight", "1.2 kg", "--contents", "books", "--on", "2026-01-26"])
    number = capsys.readouterr().out.split()[0]
    assert main(["receipt", number, "--on", "2026-01-27"]) == 0
    return number, capsys.readouterr().out.splitlines()


def test_receipt(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    number, lines = receipt(capsys, "DE")
    assert lines[:3] == [
        f"Receipt {number}, 2026-01-27",
        "nordpost, 1.2 kg to Hamburg DE",
        "5.49 EUR, VAT 0.88 EUR",
    ]


def test_no_vat_outside_the_union(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert receipt(capsys, "CH")[1][2] == "26.49 EUR, no VAT"
