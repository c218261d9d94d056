"""The plan: what its digest covers, and how arms and conditions are named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.config import load
from harness.outcome import UsageFault
from harness.plan import Arm
from harness.run import load_plan, prepare
from memory_probe.ladder import conditions


def test_all_conditions_are_spelt_out_in_the_stored_configuration(mini: Mapping[str, str], tmp_path: Path) -> None:
    ready = prepare(load(None, ["conditions=all", "seeds=1"], dict(mini)), tmp_path / "run")
    ready.folder.unlock()
    assert ready.config.conditions == tuple(conditions())
    assert {arm.condition for arm in ready.plan.arms} == set(conditions())


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
