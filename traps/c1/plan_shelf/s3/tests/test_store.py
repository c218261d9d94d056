import pytest

from frond import FrondError, compile_program, parse
from frond.cli import main
from frond.plan import dumps
from frond.store import Store

RULE = "rule r when air > 24 do open(air);"
NAME = "760677fd206b059bad4521bce0e492fb.plan"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.frond").write_text(RULE)


def kept(root):
    return [path for path in root.rglob("*") if path.is_file()]


def test_a_plan_is_kept_one_folder_down(tmp_path):
    plan = Store(tmp_path / "store").plan(RULE)
    assert plan == compile_program(parse(RULE))
    (path,) = kept(tmp_path / "store")
    assert path.parent.parent == tmp_path / "store"
    assert path.name == NAME
    assert path.read_text(encoding="utf-8") == dumps(plan)


def test_a_kept_plan_is_taken(tmp_path, capsys):
    Store(tmp_path / "store").plan(RULE)
    (path,) = kept(tmp_path / "store")
    path.write_text(path.read_text().replace("open", "shut"))
    assert main(["run", "r.frond", "air=30", "--store", "store"]) == 0
    assert capsys.readouterr().out == "r: shut(30)\n"


@pytest.mark.parametrize("change", [('"grammar": 4', '"grammar": 3'), ('"edition": "', '"edition": "older-'), ("{", "")])
def test_a_plan_that_does_not_fit_is_replaced(tmp_path, change):
    store = Store(tmp_path / "store")
    plan = store.plan(RULE)
    (path,) = kept(tmp_path / "store")
    path.write_text(path.read_text().replace(*change))
    assert store.plan(RULE) == plan
    assert path.read_text() == dumps(plan)


def test_the_commands(tmp_path, capsys):
    main(["compile", "r.frond"])
    plain = capsys.readouterr().out
    assert kept(tmp_path) == [tmp_path / "r.frond"]
    main(["compile", "r.frond", "--store", "store"])
    main(["compile", "r.frond", "--store", "store"])
    assert capsys.readouterr().out == plain * 2
    assert len(kept(tmp_path / "store")) == 1


def test_a_wrong_program_leaves_nothing(tmp_path):
    with pytest.raises(FrondError):
        Store(tmp_path / "store").plan("let a = sqrt(2);")
    assert not (tmp_path / "store").exists()


def test_a_store_that_cannot_be(tmp_path):
    assert Store(tmp_path / "r.frond").plan(RULE) == compile_program(parse(RULE))
    assert (tmp_path / "r.frond").read_text() == RULE
