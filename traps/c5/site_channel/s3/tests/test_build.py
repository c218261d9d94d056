import json
from pathlib import Path

import pytest

from frond.cli import main
from frond.plan import loads

SITES = Path(__file__).parent.parent / "sites"


@pytest.fixture
def sites(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("west", "east"):
        (tmp_path / "sites" / name).mkdir(parents=True)
        (tmp_path / "sites" / name / "main.frond").write_text("rule r when true do go();")
    (tmp_path / "sites" / "notes").mkdir()
    return tmp_path / "sites"


def index(root):
    return json.loads((root / "index.json").read_text(encoding="utf-8"))


def test_defaults(sites, tmp_path, capsys):
    assert main(["build", "sites", "--output", "out"]) == 0
    assert capsys.readouterr().out == "east: 1 rule\nwest: 1 rule\n"
    assert index(tmp_path / "out") == {
        "east": {"plan": "east.plan", "every": 60, "channel": "main"},
        "west": {"plan": "west.plan", "every": 60, "channel": "main"},
    }
    assert loads((tmp_path / "out" / "west.plan").read_text()).parts[0][0] == "r"


def test_settings(sites, tmp_path):
    (sites / "west" / "site.toml").write_text('every = 10\nchannel = "aside"\n')
    assert main(["build", "sites", "--output", "out"]) == 0
    assert index(tmp_path / "out")["west"] == {"plan": "west.plan", "every": 10, "channel": "aside"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("evry = 60", "evry is no setting"),
        ("every = 9", "every has a bad value"),
        ("every = 60.5", "every has a bad value"),
        ("every = true", "every has a bad value"),
        ('channel = ""', "channel has a bad value"),
        ("channel = 5", "channel has a bad value"),
        ("every = ", "is no TOML"),
    ],
)
def test_bad_settings(sites, tmp_path, capsys, settings, message):
    (sites / "west" / "site.toml").write_text(settings)
    assert main(["build", "sites", "--output", "out"]) == 2
    assert capsys.readouterr() == ("", f"sites/west/site.toml: {message}\n")
    assert not (tmp_path / "out").exists()


def test_a_bad_program(sites, tmp_path, capsys):
    (sites / "west" / "main.frond").write_text("let a = 1;\nlet b 2;")
    assert main(["build", "sites", "--output", "out"]) == 2
    assert capsys.readouterr() == ("", "sites/west/main.frond:2:7: expected '=', found 2\n")
    assert not (tmp_path / "out").exists()


def test_no_sites(sites, capsys):
    assert main(["build", "sites/notes", "--output", "out"]) == 2
    assert capsys.readouterr() == ("", "sites/notes: there are no sites\n")


def test_our_own(tmp_path, capsys):
    assert main(["build", str(SITES), "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "duin: 2 rules\npolder: 2 rules\nterp: 2 rules\n"
    assert {entry["every"] for entry in index(tmp_path).values()} == {60}
