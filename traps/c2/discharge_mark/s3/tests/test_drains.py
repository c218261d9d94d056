import json

import pytest

from frond import FrondError, compile_program, parse
from frond.cli import main
from frond.plan import drains, dumps, loads

DRY = 'rule vent when air > 24 do open("roof");\n'
WET = 'rule night when hour > 22 do drain("trough"), note("x");\nrule flush when salt > 3 do note("y"), drain("all");\n'


def compiled(text):
    return compile_program(parse(text))


def test_rules_that_drain():
    assert list(drains(compiled(DRY + WET + DRY.replace("vent", "out")))) == ["night", "flush"]
    assert list(drains(compiled(DRY.replace("vent", "drain")))) == []
    assert list(drains(compiled('rule r when a == "drain" do note("drain", 2);'))) == []


def test_only_plans_that_drain_bear_a_mark():
    assert compiled(DRY).discharge == ""
    assert compiled(WET).discharge
    assert compiled(DRY + WET).discharge == compiled(WET).discharge


def test_the_head_of_a_plan():
    head = json.loads(dumps(compiled(WET)))
    assert list(head) == ["format", "grammar", "edition", "discharge", "parts"]
    assert list(json.loads(dumps(compiled(DRY)))) == ["format", "grammar", "edition", "parts"]
    assert loads(dumps(compiled(WET))) == compiled(WET)
    assert loads(dumps(compiled(DRY))) == compiled(DRY)


def test_plans_that_others_made():
    data = json.loads(dumps(compiled(WET)))
    assert loads(json.dumps(data | {"discharge": "of last year"})).discharge == "of last year"
    for discharge in ({"discharge": ""}, {}):
        kept = {name: value for name, value in data.items() if name != "discharge"}
        with pytest.raises(FrondError, match="a plan that drains bears no discharge mark"):
            loads(json.dumps(kept | discharge))
    with pytest.raises(FrondError, match="this is no plan"):
        loads(json.dumps(data | {"discharge": 7}))


def test_check_names_them(tmp_path, capsys):
    (tmp_path / "wet.frond").write_text(WET)
    assert main(["check", str(tmp_path / "wet.frond")]) == 0
    assert capsys.readouterr().out == "ok; readings: hour, salt\ndrains: night, flush\n"
    (tmp_path / "dry.frond").write_text(DRY)
    assert main(["check", str(tmp_path / "dry.frond")]) == 0
    assert capsys.readouterr().out == "ok; readings: air\n"
