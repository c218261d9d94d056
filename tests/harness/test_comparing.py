"""What makes two runs comparable: factors, draws, pairs, and arms that did not run."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.compare import Pair, compare_runs
from analysis.records import ArmRow
from harness.comparing import FACTORS, Meeting, Taken, meet, parse_pairs, take
from harness.outcome import UsageFault
from harness.rundir import RunDir
from traps.facts import digest, merkle_root

MEANING: dict[str, Any] = {
    "format": 1,
    "config": {"haystack": 0, "agent.name": "reference", "budget.k": 6, "limits.wall": 120.0, "seeds": 2},
    "agent": "reference agent 1",
    "traps": {"t1": "d1", "t2": "d2"},
    "oracles": {"t1": "o1", "t2": "o2"},
    "conditions": {"B0": {"instrument": False}, "M": {"instrument": False}, "EVIDENCE": {"instrument": True}},
}
Change = Callable[[dict[str, Any]], object]
_labels = itertools.count()


def arm(trap: str, condition: str, seed: int, history: str = "given", main: bool = True) -> ArmRow:
    return ArmRow(trap, "C1", condition, seed, history, main, "careful", "pass")


def run(
    path: Path,
    change: Change = lambda meaning: None,
    *,
    salt: str = "00",
    fresh: Sequence[str] = (),
    arms: Sequence[ArmRow] | None = None,
    planned: int | None = None,
    histories: int = 1,
) -> Taken:
    """A run directory; facts of the traps and seeds in `fresh` (`t1/2`) are drawn with another salt."""
    meaning = copy.deepcopy(MEANING)
    change(meaning)
    keys = [(trap, seed) for trap in meaning["traps"] for seed in (1, 2)]
    told = {
        f"{t}/{s}": {"mark": digest("mark", f"{t}{s}", ("ff" if f"{t}/{s}" in fresh else salt) * 32)} for t, s in keys
    }
    root = merkle_root(leaf for facts in told.values() for leaf in facts.values())
    path.mkdir()
    home = RunDir(path)
    conditions = list(meaning["conditions"])
    each = len(keys) * histories
    home.write_json("commitments.json", {"root": root, "commitments": told})
    home.write_json(
        "run.json",
        {
            "label": f"{next(_labels):016x}",
            "config": {"sandbox": meaning.pop("sandbox", "bubblewrap")},
            "plan_digest": "0" * 64,
            "draw_digest": root,
            "meaning": meaning,
            "arms": each * len(conditions),
            "arms_by_condition": dict.fromkeys(conditions, each),
            "readers": ["careful"],
        },
    )
    if arms is None:
        arms = [arm(t, c, s) for t, s in keys for c in conditions]
    total = each * len(conditions)
    return take(home, arms, total, total - len(arms))


def put(table: str, key: str, value: object) -> Change:
    return lambda meaning: meaning[table].update({key: value})


def met(tmp_path: Path, change: Change, *factors: str, pairs: Sequence[Pair] = (), **more: Any) -> Meeting:
    return meet(run(tmp_path / "a"), run(tmp_path / "b", change, **more), factors, pairs)


def test_one_factor_is_compared_over_the_conditions_that_both_have(tmp_path: Path) -> None:
    found = met(tmp_path, put("config", "haystack", 200), "haystack")
    assert found.asked.pairs == (Pair("M", "M"),)
    assert found.asked.controls == ("B0", "EVIDENCE")
    assert not found.asked.movable
    assert found.asked.equal == {("t1", 1), ("t1", 2), ("t2", 1), ("t2", 2)}
    assert found.setting.differing == (("config.haystack", "0 -> 200"),)
    assert found.asked.endpoints == ("matched", "main")


def test_equal_plans_without_a_factor_are_a_repeat(tmp_path: Path) -> None:
    found = met(tmp_path, lambda meaning: None)
    assert found.setting.repeat
    assert found.asked.repeat
    assert found.asked.pairs == ()
    assert found.asked.controls == ("B0", "M", "EVIDENCE")


@pytest.mark.parametrize(
    ("change", "factor", "movable"),
    [
        (put("config", "agent.name", "nop"), "agent", {"B0", "EVIDENCE"}),
        (put("config", "model.name", "m-2"), "agent", {"B0", "EVIDENCE"}),
        (put("config", "judge.name", "m-2"), "judge", set()),
        (put("config", "delivery", "pull"), "delivery", {"B0", "EVIDENCE"}),
        (put("config", "limits.wall", 9.0), "limits", {"B0", "EVIDENCE"}),
        (put("config", "budget.k", 1), "budget", {"EVIDENCE"}),
        (put("config", "budget.k", 1), "config.budget.k", {"EVIDENCE"}),
        (put("oracles", "t1", "new"), "oracles", {"B0", "EVIDENCE"}),
        (put("traps", "t1", "new"), "traps", {"B0", "EVIDENCE"}),
        (put("config", "readers", ["careful"]), "readers", set()),
        (put("conditions", "M", {"instrument": False, "version": "2"}), "conditions", set()),
        (put("conditions", "B0", {"instrument": False, "version": "2"}), "conditions", {"B0"}),
        (lambda meaning: meaning.update(agent="nop 1"), "agent", {"B0", "EVIDENCE"}),
        (lambda meaning: meaning.update(family={"name": "x"}), "family", set()),
        (lambda meaning: meaning.update(background={"mini": "b1"}), "haystack", set()),
        (lambda meaning: meaning.update(sandbox="docker"), "sandbox", {"B0", "EVIDENCE"}),
    ],
)  # fmt: skip
def test_which_controls_a_factor_can_move(tmp_path: Path, change: Change, factor: str, movable: set[str]) -> None:
    assert met(tmp_path, change, factor).asked.movable == movable


def test_other_differences_are_refused_and_listed(tmp_path: Path) -> None:
    def change(meaning: dict[str, Any]) -> None:
        meaning["config"].update({"haystack": 200, "budget.k": 5, "limits.wall": 9.0})

    with pytest.raises(UsageFault) as caught:
        met(tmp_path, change, "haystack")
    text = str(caught.value)
    assert "more than the factor haystack" in text
    assert "config.budget.k: 6 -> 5\n" in text
    assert "config.limits.wall: 120.0 -> 9.0" in text
    assert "haystack: " not in text
    found = meet(
        take_again(tmp_path / "a"), take_again(tmp_path / "b"), ("haystack", "budget", "limits", "haystack"), ()
    )
    assert found.setting.factors == ("haystack", "budget", "limits")


def take_again(path: Path) -> Taken:
    return take(RunDir.open(path), [], 12, 12)


@pytest.mark.parametrize(
    ("change", "factors", "pairs", "message"),
    [
        (put("config", "haystack", 5), (), (), r"what no --factor names.*\n  config.haystack: 0 -> 5"),
        (put("config", "haystack", 5), ("colour",), (), "no such factor .there are: haystack, agent"),
        (lambda meaning: None, ("haystack",), (), "plans do not differ in it"),
        (lambda meaning: None, (), (Pair("M", "M"),), "a repeat"),
        (lambda meaning: None, ("conditions",), (Pair("M", "Z"),), "B has no condition 'Z' .there are: B0, M, EV"),
        (put("config", "haystack", 5), ("haystack",), (Pair("M", "B0"),), "remedy: --factor conditions"),
        (lambda meaning: meaning.update(sandbox="docker"), (), (), "sandbox: .bubblewrap. -> .docker."),
        (lambda meaning: meaning.update(format=2), ("haystack",), (), "do not differ"),
    ],
)  # fmt: skip
def test_refused(tmp_path: Path, change: Change, factors: tuple[str, ...], pairs: Any, message: str) -> None:
    with pytest.raises(UsageFault, match=message):
        met(tmp_path, change, *factors, pairs=pairs)


def test_condition_sets_are_compared_by_pairs(tmp_path: Path) -> None:
    def change(meaning: dict[str, Any]) -> None:
        meaning["conditions"] = {"B0": {"instrument": False}, "N": {"instrument": False}}

    found = met(tmp_path, change, "conditions", pairs=parse_pairs(["M:N", "M:N"]))
    assert found.asked.pairs == (Pair("M", "N"),)
    assert found.asked.controls == ("B0",)
    alike = meet(run(tmp_path / "c"), run(tmp_path / "d"), ("conditions",), [Pair("M", "B0")])
    assert alike.asked.pairs == (Pair("M", "M"), Pair("M", "B0"))


def test_a_trap_that_one_run_lacks_takes_its_oracle_along(tmp_path: Path) -> None:
    def change(meaning: dict[str, Any]) -> None:
        del meaning["traps"]["t2"], meaning["oracles"]["t2"]

    found = met(tmp_path, change, "traps")
    assert found.setting.only_first == (("t2", 1), ("t2", 2))
    assert found.asked.equal == {("t1", 1), ("t1", 2)}


def test_a_run_that_has_not_begun_pairs_nothing(tmp_path: Path) -> None:
    found = meet(run(tmp_path / "a"), run(tmp_path / "b", put("config", "haystack", 5), arms=[]), ("haystack",), ())
    contrast = compare_runs(found.first, found.second, found.asked).contrasts[0]
    assert contrast.found.test is not None
    assert (contrast.found.test.paired, contrast.found.test.excluded, contrast.verdict) == (0, 4, "no paired cells")
    assert found.setting.second.owed == 12


def test_only_equal_draws_are_paired(tmp_path: Path) -> None:
    found = met(tmp_path, put("config", "haystack", 5), "haystack", fresh=["t1/2"])
    assert found.asked.equal == {("t1", 1), ("t2", 1), ("t2", 2)}
    assert found.setting.unequal == (("t1", 2),)
    with pytest.raises(UsageFault, match=r"no trap and seed alike.*run --facts-from .*/a "):
        meet(take_again(tmp_path / "a"), run(tmp_path / "c", salt="11"), (), ())


def test_one_run_is_not_two(tmp_path: Path) -> None:
    one = run(tmp_path / "a")
    with pytest.raises(UsageFault, match="are one run"):
        meet(one, one, (), ())


def test_arms_that_did_not_run_are_invalid(tmp_path: Path) -> None:
    half = [arm("t1", c, 1) for c in MEANING["conditions"]]
    a = run(tmp_path / "a")
    found = meet(a, run(tmp_path / "b", arms=half), (), ())
    assert len(found.second.arms) == 12
    assert [r.outcome for r in found.second.arms].count("invalid") == 9
    drift = compare_runs(found.first, found.second, found.asked).drifts[0].found.test
    assert drift is not None
    assert (drift.paired, drift.excluded, drift.excluded_second) == (1, 3, 3)


def test_a_history_that_never_ran_leaves_no_cell_whole(tmp_path: Path) -> None:
    early = [arm("t1", c, 1) for c in MEANING["conditions"]]
    both = [arm(t, c, s, h, h == "given") for t in ("t1", "t2") for c in MEANING["conditions"] for s in (1, 2)
            for h in ("given", "other")]  # fmt: skip
    a, b = (run(tmp_path / name, arms=early, histories=2) for name in "ab")
    short = meet(a, b, (), ())
    assert short.asked.endpoints == ("main",)
    assert short.setting.notes == ("Matched is not compared: of some trap not every history has run yet.",)
    told = meet(a, run(tmp_path / "c", arms=both, histories=2), (), ())
    assert told.asked.endpoints == ("matched", "main")
    found = compare_runs(told.first, told.second, told.asked)
    paired = {d.found.endpoint: d.found.test.paired for d in found.drifts if d.found.test}
    assert paired == {"matched": 0, "main": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"root": "0" * 64}, "do not match the draw digest"),
        ({"commitments": {"t1/1": {"mark": "x"}}}, "damaged"),
        ({"commitments": {"t1": {}}}, "damaged"),
        ({"commitments": {}}, "do not match"),
    ],
)
def test_damaged_commitments(tmp_path: Path, change: dict[str, object], message: str) -> None:
    home = run(tmp_path / "a").home
    data = json.loads((home.path / "commitments.json").read_text())
    (home.path / "commitments.json").write_text(json.dumps(data | change))
    with pytest.raises(UsageFault, match=rf"commitments\.json.*{message}"):
        take(home, [], 12, 12)


def test_an_arm_outside_the_plan(tmp_path: Path) -> None:
    home = run(tmp_path / "a").home
    with pytest.raises(UsageFault, match="t1/M/9/given is not in the plan"):
        take(home, [arm("t1", "M", 9)], 12, 11)


@pytest.mark.parametrize("word", ["M", "M:", ":M", ""])
def test_a_pair_names_two_conditions(word: str) -> None:
    with pytest.raises(UsageFault, match="expected FIRST:SECOND"):
        parse_pairs([word])


def test_every_factor_has_keys_of_its_own() -> None:
    keys = [key for keys in FACTORS.values() for key in keys]
    assert len(set(keys)) == len(keys)
