"""Live admission: can a real agent do a trap's work with the evidence, and can it not without?

The gates of `trap check` watch the reference agent, which does what a playbook says. Here an agent of the person's own
choice works before a model: it is the one thing that tells whether a prompt can be understood, and whether an answer
can be guessed.

Invariant: a live check is a run like any other, kept in its own directory and taken up where it stopped; what could not
be measured is a problem, never a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.records import COUNTED
from harness.records import ArmRecord, Ending
from traps.gates import Problem

CONDITIONS = ("B0", "EVIDENCE")
GATE = "live"


@dataclass(frozen=True)
class Count:
    """`passed` of the arms that count."""

    passed: int = 0
    of: int = 0

    def __str__(self) -> str:
        return f"{self.passed}/{self.of}"


@dataclass(frozen=True)
class Live:
    """What an agent did with one trap: public checks of S1 and S2, and the main history without and with evidence."""

    trap: str
    warm_up: Count
    without: Count
    evidence: Count
    invalid: int
    abstains: bool  # the right thing in the main history is to leave the evidence alone

    def problems(self) -> list[Problem]:
        """Why the trap is not one for this agent; none when it is."""
        found = []
        if self.invalid or not self.without.of or not self.evidence.of:
            found.append(f"{self.invalid} arms are invalid, {self.without} and {self.evidence} could be measured")
        if self.evidence.of and not self.evidence.passed:
            found.append(f"never done with the evidence ({self.evidence})")
        if self.without.passed and not self.abstains:
            found.append(f"done without any memory ({self.without}): it can be guessed, or is told by the tree")
        if 2 * self.warm_up.passed < self.warm_up.of:
            found.append(f"the public checks of S1 and S2 hold in {self.warm_up} only")
        return [Problem(GATE, self.trap, message) for message in found]

    def line(self) -> str:
        """One line for a person."""
        return f"without memory {self.without}, with the evidence {self.evidence}, warm-up {self.warm_up}"


def live_results(records: Sequence[ArmRecord], traps: Iterable[str]) -> list[Live]:
    """For each trap what its arms say: those of the main history, at every reader level."""
    return [_result(trap, [r for r in records if r.trap == trap and r.main]) for trap in traps]


def _result(trap: str, records: Sequence[ArmRecord]) -> Live:
    checks = [passed for record in records for passed in record.warm_up if passed is not None]
    by_condition = {code: [r for r in records if r.condition == code] for code in CONDITIONS}
    invalid = sum(not _counts(ending) for record in records for ending in record.endings)
    without, evidence = (_passes(by_condition[code]) for code in CONDITIONS)
    abstains = any(record.expect == "abstain" for record in records)
    return Live(trap, Count(sum(checks), len(checks)), without, evidence, invalid, abstains)


def _counts(ending: Ending) -> bool:
    return ending.outcome.value in COUNTED


def _passes(records: Iterable[ArmRecord]) -> Count:
    endings = [ending for record in records for ending in record.endings if _counts(ending)]
    return Count(sum(ending.outcome == "pass" for ending in endings), len(endings))
