"""Finished runs made ready to be set side by side by author and wake agent: what may differ, who wrote, who worked.

Invariant: runs that differ in more than who worked and which model a memory asks are refused with the differing keys;
two runs that differ in neither are a repeat, and refused too; nothing is written into any of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.report.layout import clean
from analysis.report.transferring import RunTold, Setting
from analysis.transfer import Run
from harness.comparing import Taken, take
from harness.outcome import UsageFault
from harness.plan import differing
from harness.records import ArmRecord
from harness.reporting import in_plan_order, run_data
from harness.rows import outcome_counts, rows
from harness.rundir import RunDir

#: Keys of a plan that say who worked in the sessions, and under which limits.
WAKE = ("agent", "config.agent", "config.model", "config.limits")
#: Keys that say which model the memories ask.
AUTHOR = ("config.judge",)

NOBODY, HARNESS, RULES, ITSELF = "nobody", "the harness", "rules", "the wake agent"
_FILES = "FILES"  # the condition in which an agent keeps its own notes
_BASELINE = "B0"


@dataclass(frozen=True)
class Side:
    """One run as it takes part; `owed` endings are invalid or did not run."""

    taken: Taken
    records: tuple[ArmRecord, ...]

    @property
    def name(self) -> str:
        return self.taken.home.path.name

    @property
    def owed(self) -> int:
        return self.taken.owed

    @property
    def config(self) -> Mapping[str, object]:
        """The plan's configuration, by dotted key."""
        return self.taken.part("config")

    def under(self, prefixes: Sequence[str]) -> str:
        """What the plan says below these keys, as canonical JSON."""
        told = {"agent": self.taken.stored.agent} | {f"config.{key}": value for key, value in self.config.items()}
        mine = {key: value for key, value in told.items() if _under(key, prefixes)}
        return json.dumps(mine, sort_keys=True)


def _under(key: str, prefixes: Sequence[str]) -> bool:
    return any(key == prefix or key.startswith(f"{prefix}.") for prefix in prefixes)


def read(home: RunDir, records: Sequence[ArmRecord]) -> Side:
    """A run. Raises UsageFault for damage."""
    stored = home.description()
    counts = outcome_counts(records, stored.arms, len(stored.readers))
    owed = counts["owed"] + counts["invalid"]
    ordered = tuple(in_plan_order(stored, records))
    return Side(take(home, rows(ordered), counts["planned"], owed), ordered)


def side_by_side(sides: Sequence[Side]) -> tuple[Setting, tuple[Run, ...]]:
    """What is said of the runs, and the runs. Raises UsageFault that says what stands against it."""
    if len(sides) < 2:
        raise UsageFault("transfer sets runs side by side: name two or more")
    first = sides[0]
    for number, other in enumerate(sides[1:], 1):
        _check_alike(first, other)
        for known in sides[:number]:
            _check_distinct(known, other)
    wakes = _wakes(sides)
    names = _names(sides)
    runs = tuple(
        Run(name, wake, _authors(side), run_data(side.taken.home, side.records))
        for name, wake, side in zip(names, wakes, sides, strict=True)
    )
    told = tuple(RunTold(name, _told(side, wake)) for name, wake, side in zip(names, wakes, sides, strict=True))
    return Setting(told, _notes(sides, names)), runs


def _check_alike(first: Side, other: Side) -> None:
    found = [clean(line) for line in differing(first.taken.meaning, other.taken.meaning)]
    if keys := [line for line in found if not _under(line.partition(": ")[0], (*WAKE, *AUTHOR))]:
        raise UsageFault(
            f"{first.taken.home.path} and {other.taken.home.path} differ in more than who worked and who wrote; "
            "nothing was compared. Differing keys:\n  " + "\n  ".join(keys)
        )


def _check_distinct(known: Side, other: Side) -> None:
    paths = f"{known.taken.home.path} and {other.taken.home.path}"
    if known.taken.stored.label == other.taken.stored.label:
        raise UsageFault(f"{paths} are one run (label {other.taken.stored.label})")
    if known.under((*WAKE, *AUTHOR)) == other.under((*WAKE, *AUTHOR)):
        raise UsageFault(f"{paths} have the same wake agent and author: a repeat (remedy: dreambench compare)")


def _names(sides: Sequence[Side]) -> list[str]:
    """Names of the directories; those that are the same get a number."""
    names = [side.name for side in sides]
    return [n if names.count(n) == 1 else f"{n} ({at})" for at, n in enumerate(names, 1)]


def _wakes(sides: Sequence[Side]) -> list[str]:
    """Agent and model of each run; those that are named alike and are not get a number."""
    plain = []
    for side in sides:
        agent, model = side.config.get("agent.name"), side.config.get("model.name")
        plain.append(f"{agent} + {model}" if model else str(agent))
    kinds: dict[str, list[str]] = {}
    for name, side in zip(plain, sides, strict=True):
        known = kinds.setdefault(name, [])
        if side.under(WAKE) not in known:
            known.append(side.under(WAKE))
    return [
        name if len(kinds[name]) == 1 else f"{name} #{kinds[name].index(side.under(WAKE)) + 1}"
        for name, side in zip(plain, sides, strict=True)
    ]


def _authors(side: Side) -> dict[str, str]:
    """Who wrote what the memory of each condition holds."""
    cards = side.taken.part("conditions")
    judge = str(side.config.get("judge.name") or "a model")
    found = {}
    for code in side.taken.conditions:
        card = cards.get(code)
        card = card if isinstance(card, dict) else {}
        if card.get("instrument"):
            found[code] = HARNESS
        elif card.get("needs_model"):
            found[code] = judge
        else:
            found[code] = {_BASELINE: NOBODY, _FILES: ITSELF}.get(code, RULES)
    return found


def _told(side: Side, wake: str) -> tuple[tuple[str, str], ...]:
    stored = side.taken.stored
    return (
        ("wake agent", wake),
        ("card", stored.agent),
        ("model that memories ask", str(side.config.get("judge.name") or "none")),
        ("plan", stored.plan_digest[:16]),
        ("draw", stored.draw_digest[:16]),
        ("arms", str(stored.arms)),
        ("endings owed", f"{side.owed} of {side.taken.planned}"),
    )


def _notes(sides: Sequence[Side], names: Sequence[str]) -> tuple[str, ...]:
    notes = []
    draws = {side.taken.stored.draw_digest for side in sides}
    notes.append(
        "All runs drew the same facts."
        if len(draws) == 1
        else "The runs drew different facts, so that a difference between cells is also one between draws."
    )
    if len({side.under(("config.limits",)) for side in sides}) > 1:
        notes.append("The limits of a session are not the same in all runs; they count as part of the wake agent.")
    notes += [
        f"{name} is incomplete: {side.owed} of {side.taken.planned} endings are invalid or were not run."
        for name, side in zip(names, sides, strict=True)
        if side.owed
    ]
    return tuple(notes)
