import json

import pytest

from frond.cli import main


@pytest.fixture
def run(tmp_path, capsys):
    def do(source, *readings):
        file = tmp_path / "x.frond"
        file.write_text(source, encoding="utf-8")
        assert main(["run", str(file), *readings, "--json"]) == 0
        return capsys.readouterr().out

    return do


def test_deeds(run):
    text = run('rule vent when air > 24 do open("roof", 25), note(not rain);', "air=30", "rain=false")
    assert text.count("\n") == 1
    assert json.loads(text) == [
        {"rule": "vent", "action": "open", "arguments": ["roof", 25.0]},
        {"rule": "vent", "action": "note", "arguments": [True]},
    ]


def test_nothing_to_do(run):
    assert run("rule r when air > 24 do go();", "air=1") == "[]\n"


def test_letters(run):
    assert '"Joëlle (5)"' in run('rule r when true do call("Joëlle (5)");')
