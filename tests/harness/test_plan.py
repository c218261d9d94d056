"""The plan: what its digest covers, and how arms and conditions are named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from analysis.family import parse_family
from harness.config import RunConfig, load
from harness.outcome import UsageFault
from harness.plan import Arm
from harness.run import load_plan, prepare, stored_config
from harness.rundir import RunDir
from memory_probe.ladder import conditions, unaided


def test_all_conditions_are_spelt_out_in_the_stored_configuration(mini: Mapping[str, str], tmp_path: Path) -> None:
    ready = prepare(load(None, ["conditions=all", "seeds=1"], dict(mini)), tmp_path / "run")
    ready.folder.unlock()
    assert ready.config.conditions == unaided(conditions())
    assert {arm.condition for arm in ready.plan.arms} == set(unaided(conditions()))


def test_the_digest_follows_meaning_and_not_places(mini: Mapping[str, str]) -> None:
    base = load_plan(load(None, [], dict(mini))).digest
    assert load_plan(load(None, ["jobs=7"], dict(mini))).digest == base
    for word in ("budget.k=5", "seeds=2", "conditions=B0", "readers=careful", "limits.wall=9", "agent.name=nop"):
        assert load_plan(load(None, [word], dict(mini))).digest != base, word


def test_arms_go_through_their_names() -> None:
    arm = Arm("c1_x", "B5", 3, "given")
    assert Arm.parse(arm.id) == arm
    with pytest.raises(UsageFault, match="trap/condition/seed/history"):
        Arm.parse("c1_x/B5/given")


FAMILY = """
name = "mine"
[[contrast]]
id = "M1"
first = "B5"
second = "B0"
[[contrast]]
id = "M2"
first = "DF"
second = "DF-hybrid"
"""


def config(mini: Mapping[str, str], *words: str) -> RunConfig:
    return load(None, ["seeds=1", "conditions=B0,B5", *words], dict(mini))


def test_a_family_is_in_the_plan_by_what_it_says(mini: Mapping[str, str], tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text(FAMILY)
    two.write_text("# elsewhere, with a comment\n" + FAMILY)
    plan = load_plan(config(mini, f"family={one}"))
    assert plan.meaning["family"] == {"name": "mine", "digest": parse_family(FAMILY).digest}
    assert plan.unmet == ("DF", "DF-hybrid")
    assert load_plan(config(mini, f"family={two}")).digest == plan.digest
    two.write_text(FAMILY.replace("mine", "yours"))
    assert load_plan(config(mini, f"family={two}")).digest != plan.digest
    assert load_plan(config(mini, "family=quick")).meaning["family"]["name"] == "Quick fold"


def test_without_a_family_the_plan_is_as_it_was(mini: Mapping[str, str]) -> None:
    plan = load_plan(config(mini))
    assert "family" not in plan.meaning
    assert "family" not in plan.meaning["config"]
    assert plan.unmet == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"^family: \S*mine\.toml: No such file or directory$"),
        ("name = 1", r"^family: .*mine\.toml: name: Input should be a valid string; contrast: Field required$"),
        ("traps = 60\n" + FAMILY, r"^family: mine registers 60 traps, the run has 1$"),
        ("seeds = [1, 2]\n" + FAMILY, r"^family: mine registers seeds \[1, 2\], the run has \[1\]$"),
    ],
)
def test_a_family_that_does_not_fit_stops_before_anything_is_made(
    text: str | None, message: str, mini: Mapping[str, str], tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UsageFault, match=message):
        prepare(config(mini, f"family={tmp_path / 'mine.toml'}"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_is_not_resumed_under_another_family(
    mini: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(FAMILY)
    prepare(config(mini, "family=mine.toml"), tmp_path / "run").folder.unlock()
    stored = RunDir.open(tmp_path / "run").description()
    assert stored.family == parse_family(FAMILY).as_data()
    assert stored_config(RunDir.open(tmp_path / "run")).family == str(tmp_path / "mine.toml")
    before = (tmp_path / "run" / "run.json").read_bytes()
    for word, key in (("family=quick", r"family\.digest: "), ("jobs=1", "family: ")):
        with pytest.raises(UsageFault, match=key):
            prepare(config(mini, word), tmp_path / "run")
    Path("mine.toml").write_text(FAMILY.replace('"M1"', '"M3"'))
    with pytest.raises(UsageFault, match=r"family\.digest: "):
        prepare(stored_config(RunDir.open(tmp_path / "run")), tmp_path / "run")
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    Path("mine.toml").write_text("# as before\n" + FAMILY)
    prepare(stored_config(RunDir.open(tmp_path / "run")), tmp_path / "run").folder.unlock()
