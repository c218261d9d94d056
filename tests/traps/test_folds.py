"""Folds: a frozen set of traps is run whole and unchanged, or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.main import cli
from harness.config import RunConfig, load
from harness.outcome import COMPLETE, UsageFault
from harness.run import load_plan
from traps.folds import Fold, load_fold
from traps.schema import TrapError

ROOT = Path(__file__).parent.parent.parent
MINI = ROOT / "tests" / "data" / "mini"


def config(world: Path, *words: str) -> RunConfig:
    places = {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")}
    return load(None, ["conditions=B0", "seeds=1", *words], places)


def freeze(world: Path, *words: str) -> int:
    places = ["--traps", str(world / "traps"), "--oracles", str(world / "oracles")]
    call = ["trap", "fold", "small", "c1_label", "--title", 'the "mini" trap', "--unadmitted", *places, *words]
    code: int = CliRunner().invoke(cli, call, standalone_mode=False, catch_exceptions=False).return_value
    return code


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The mini trap, frozen as the fold `small`."""
    shutil.copytree(MINI, tmp_path / "mini")
    assert freeze(tmp_path / "mini") == COMPLETE
    return tmp_path / "mini"


def test_the_quick_fold_has_one_unchanged_trap_a_construct() -> None:
    plan = load_plan(load(None, ["fold=quick", "conditions=B0", "seeds=1"]))
    assert sorted(trap.construct for trap in plan.traps.values()) == sorted(f"C{n}" for n in range(1, 11))
    assert plan.meaning["fold"] == {"name": "quick", "digest": load_fold(ROOT / "traps", "quick").digest}


def test_a_fold_is_part_of_the_plan(world: Path) -> None:
    frozen, free = (load_plan(config(world, *words)) for words in (["fold=small"], []))
    assert list(frozen.traps) == list(free.traps) == ["c1_label"]
    assert "fold" not in free.meaning
    assert frozen.digest != free.digest


@pytest.mark.parametrize(
    "file", ["traps/c1/label/e1.md", "oracles/c1/label/oracle.py", "traps/fixtures/mini/repo/README.md"]
)
def test_a_changed_member_is_named_and_not_run(file: str, world: Path) -> None:
    path = world / file
    path.write_text((path.read_text() if path.exists() else "") + "\n")
    with pytest.raises(UsageFault, match="fold: small: c1_label has changed since the fold was frozen"):
        load_plan(config(world, "fold=small"))
    load_plan(config(world, "traps=c1_label"))


def test_a_fold_is_run_whole(world: Path) -> None:
    with pytest.raises(UsageFault, match="give one of the two"):
        load_plan(config(world, "fold=small", "traps=c1_label"))


def test_a_frozen_fold_is_not_overwritten_by_chance(world: Path) -> None:
    with pytest.raises(UsageFault, match="there is a fold of that name"):
        freeze(world)
    assert freeze(world, "--replace") == COMPLETE
    assert load_fold(world / "traps", "small").title == 'the "mini" trap'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('schema = 1\nname = "small"\ntitle = ""\n[members]\n', "members: "),
        ('schema = 1\nname = "small"\ntitle = ""\n[members]\nc1_label = "x"\n', "members.c1_label: "),
        ('schema = 1\nname = "other"\ntitle = ""\n[members]\nc1_label = "' + "0" * 64 + '"\n', "does not fit the file"),
        ('schema = 2\nname = "small"\n', "schema: "),
        ("schema = \n", "small.toml"),
    ],
)
def test_a_broken_fold_is_named(text: str, says: str, world: Path) -> None:
    (world / "traps/folds/small.toml").write_text(text)
    with pytest.raises(TrapError, match=says):
        load_fold(world / "traps", "small")


def test_an_unknown_fold_says_which_there_are(world: Path) -> None:
    with pytest.raises(UsageFault, match=r"no such fold \(there are: small\)"):
        load_plan(config(world, "fold=large"))


@given(
    st.dictionaries(
        st.from_regex(r"c[1-9]_[a-z]{1,5}", fullmatch=True), st.binary(min_size=32, max_size=32), min_size=1
    ),
    st.data(),
)
def test_exactly_the_changed_members_are_told(raw: dict[str, bytes], data: st.DataObject) -> None:
    members = {trap: digest.hex() for trap, digest in raw.items()}
    touched = data.draw(st.sets(st.sampled_from(sorted(members))))
    found = {t: (d[::-1] if t in touched else d) for t, d in members.items()}
    fold = Fold(schema=1, name="small", title="", members=members)
    assert [line.split()[0] for line in fold.changed(found)] == [t for t in members if found[t] != members[t]]
    assert len(fold.changed({})) == len(members)
