"""What makes runs fit to be set side by side: wake agents and authors by name, what may differ, what is said."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.outcome import UsageFault
from harness.rundir import RunDir
from harness.transferring import Side, read, side_by_side
from traps.facts import digest, merkle_root

CONFIG: dict[str, Any] = {"agent.name": "command", "agent.command": ["a"], "limits.wall": 120.0, "seeds": 1}
CARDS: dict[str, Any] = {
    "B0": {},
    "B5": {},
    "FILES": {},
    "B3-model": {"needs_model": True},
    "EVIDENCE": {"instrument": True},
}
_labels = itertools.count()


def run(path: Path, card: str = "command a", salt: str = "00", label: str = "", **config: Any) -> Side:
    """A run of one trap of which nothing was executed; `config` has keys with two underscores for the dot."""
    told = {"t1/1": {"mark": digest("mark", "value", salt * 32)}}
    root = merkle_root(leaf for facts in told.values() for leaf in facts.values())
    path.mkdir()
    home = RunDir(path)
    home.write_json("commitments.json", {"root": root, "commitments": told})
    changed = {key.replace("__", "."): value for key, value in config.items()}
    meaning = {
        "format": 1,
        "config": copy.deepcopy(CONFIG) | changed,
        "agent": card,
        "traps": {"t1": "d1"},
        "oracles": {"t1": "o1"},
        "conditions": CARDS,
    }
    stored = {
        "label": label or f"{next(_labels):016x}",
        "config": {"sandbox": "bubblewrap"},
        "plan_digest": "0" * 64,
        "draw_digest": root,
        "meaning": meaning,
        "arms": len(CARDS),
        "arms_by_condition": dict.fromkeys(CARDS, 1),
        "readers": ["-"],
    }
    home.write_json("run.json", stored)
    return read(home, [])


def wakes(sides: Sequence[Side]) -> list[str]:
    return [one.wake for one in side_by_side(sides)[1]]


def test_a_wake_agent_is_named_by_agent_and_model(tmp_path: Path) -> None:
    one = run(tmp_path / "a", "codex, m-1", agent__name="codex", model__name="m-1")
    two = run(tmp_path / "b", "codex, m-2", agent__name="codex", model__name="m-2")
    assert wakes([one, two]) == ["codex + m-1", "codex + m-2"]


def test_agents_that_are_named_alike_get_numbers_and_the_same_one_keeps_its_own(tmp_path: Path) -> None:
    """One agent with another model for its memories is one column; another program is another."""
    one = run(tmp_path / "a", judge__name="j-1")
    two = run(tmp_path / "b", "command b", agent__command=["b"], judge__name="j-1")
    three = run(tmp_path / "c", judge__name="j-2")
    assert wakes([one, two, three]) == ["command #1", "command #2", "command #1"]


def test_who_wrote_each_memory(tmp_path: Path) -> None:
    sides = [run(tmp_path / "a", judge__name="j-1"), run(tmp_path / "b", judge__name="j-2")]
    first, second = (dict(one.authors) for one in side_by_side(sides)[1])
    assert first == {
        "B0": "nobody", "B5": "rules", "FILES": "the wake agent", "B3-model": "j-1", "EVIDENCE": "the harness",
    }  # fmt: skip
    assert second == first | {"B3-model": "j-2"}


def test_what_is_said_of_the_runs(tmp_path: Path) -> None:
    same = side_by_side([run(tmp_path / "a"), run(tmp_path / "b", "x", agent__name="x")])[0]
    assert same.notes[0] == "All runs drew the same facts."
    assert same.notes[1:] == tuple(f"{n} is incomplete: 5 of 5 endings are invalid or were not run." for n in "ab")
    other = run(tmp_path / "c", "x", salt="11", agent__name="x", limits__wall=9.0)
    setting = side_by_side([run(tmp_path / "d"), other])[0]
    assert setting.notes[0].startswith("The runs drew different facts")
    assert setting.notes[1].startswith("The limits of a session are not the same in all runs")
    assert dict(setting.runs[1].told)["wake agent"] == "x"
    assert dict(setting.runs[1].told)["model that memories ask"] == "none"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"budget__k": 3},
            r"differ in more than who worked and who wrote; nothing was compared.*\n  config\.budget\.k",
        ),
        ({"agent__name": "x", "seeds": 2}, r"\n  config\.seeds: 1 -> 2$"),
        ({}, r"have the same wake agent and author: a repeat"),
    ],
)
def test_refused(tmp_path: Path, config: dict[str, Any], message: str) -> None:
    sides = [run(tmp_path / "a"), run(tmp_path / "b", **config)]
    with pytest.raises(UsageFault, match=message):
        side_by_side(sides)


def test_one_run_under_two_names_is_one(tmp_path: Path) -> None:
    sides = [run(tmp_path / "a", label="f" * 16), run(tmp_path / "b", "x", label="f" * 16, agent__name="x")]
    with pytest.raises(UsageFault, match="are one run"):
        side_by_side(sides)


def test_every_pair_is_looked_at(tmp_path: Path) -> None:
    """The third is a repeat of the second, not of the first."""
    second, third = (run(tmp_path / name, "x", agent__name="x") for name in "bc")
    with pytest.raises(UsageFault, match=r"/b and .*/c have the same"):
        side_by_side([run(tmp_path / "a"), second, third])


def test_runs_in_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    sides = [run(tmp_path / "x" / "run"), run(tmp_path / "y" / "run", "x", agent__name="x")]
    assert [one.name for one in side_by_side(sides)[1]] == ["run (1)", "run (2)"]
