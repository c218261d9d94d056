"""From arms to cells, and from cells to Pass@1 with its counts.

Invariant: every arm falls into one cell and every cell into one outcome, so counts always sum to what was planned;
invalid and unavailable cells are in the counts and never in a rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.intervals import Interval, wilson
from analysis.records import COUNTED, OUTCOMES, ArmRow, CellRecord, Endpoint, Outcome, RecordError, check_arms

#: Which outcome of its arms decides a cell; the first one that occurs.
PRECEDENCE: tuple[Outcome, ...] = ("invalid", "unavailable", "trapped", "failed", "pass")
NOT_RUN = "an arm of the cell was not run"


@dataclass(frozen=True)
class Rate:
    """Pass@1 = passed / counted; counted = pass + trapped + failed. `value` is None without an opportunity."""

    passed: int
    counted: int

    @property
    def value(self) -> float | None:
        return self.passed / self.counted if self.counted else None

    def interval(self, confidence: float = 0.95) -> Interval | None:
        """Wilson interval of the cells as if independent; None without an opportunity."""
        return wilson(self.passed, self.counted, confidence)


@dataclass(frozen=True)
class Tally:
    """Counts by outcome, and how many of the planned have no record yet."""

    counts: Mapping[Outcome, int]
    not_run: int

    @property
    def planned(self) -> int:
        return sum(self.counts.values()) + self.not_run

    @property
    def owed(self) -> int:
        """What a complete run still needs: the invalid ones and those not run."""
        return self.counts["invalid"] + self.not_run


def cells(arms: Sequence[ArmRow], endpoint: Endpoint) -> tuple[CellRecord, ...]:
    """One record a cell and reader level: the main history's outcome, or that of all histories together.

    A trap has the histories that occur in any of its rows; a cell that lacks one it needs is `invalid` with the
    cause NOT_RUN. Raises RecordError: a bad or doubled arm, a trap with two main histories.
    """
    grouped: dict[tuple[str, str, int, str], list[ArmRow]] = {}
    histories: dict[str, dict[str, bool]] = {}
    for number, arm in enumerate(check_arms(arms)):
        grouped.setdefault((arm.trap, arm.condition, arm.seed, arm.reader), []).append(arm)
        known = histories.setdefault(arm.trap, {})
        others = [name for name, main in known.items() if main and arm.main and name != arm.history]
        if others or known.setdefault(arm.history, arm.main) != arm.main:
            raise RecordError(number, f"trap {arm.trap!r}: other rows have another main history")
    return tuple(_cell(group, histories[group[0].trap], endpoint) for group in grouped.values())


def _cell(group: list[ArmRow], histories: Mapping[str, bool], endpoint: Endpoint) -> CellRecord:
    first = group[0]
    if endpoint == "main":
        group = [arm for arm in group if arm.main]
    if len(group) < (1 if endpoint == "main" else len(histories)):
        group = [replace(first, outcome="invalid", cause=NOT_RUN)]
    seen = {arm.outcome for arm in group}
    outcome = next(o for o in PRECEDENCE if o in seen)
    causes = sorted({arm.cause for arm in group if arm.outcome == outcome and arm.cause})
    return CellRecord(
        first.trap, first.construct, first.condition, first.seed, outcome, first.reader, "; ".join(causes)
    )


def rate(records: Iterable[CellRecord | ArmRow]) -> Rate:
    """Pass@1 over the records."""
    outcomes = [record.outcome for record in records]
    return Rate(outcomes.count("pass"), sum(1 for outcome in outcomes if outcome in COUNTED))


def rates_by(records: Iterable[CellRecord], key: Callable[[CellRecord], str]) -> dict[str, Rate]:
    """Pass@1 for each value of `key` (a construct, a condition, a trap), in order of first appearance."""
    grouped: dict[str, list[CellRecord]] = {}
    for record in records:
        grouped.setdefault(key(record), []).append(record)
    return {name: rate(group) for name, group in grouped.items()}


def tally(records: Iterable[CellRecord | ArmRow], planned: int | None = None) -> Tally:
    """Counts by outcome (every outcome, also those with 0). `planned` None takes the records as the plan.

    Raises RecordError when there are more records than planned.
    """
    found = Counter(record.outcome for record in records)
    total = sum(found.values())
    if planned is None:
        planned = total
    if total > planned:
        raise RecordError(None, f"{total} records for a plan of {planned}")
    return Tally({outcome: found[outcome] for outcome in OUTCOMES}, planned - total)


def causes(arms: Iterable[ArmRow]) -> dict[tuple[Outcome, str], int]:
    """How often each cause stands behind each outcome but pass; most frequent first, then by name."""
    found = Counter((arm.outcome, arm.cause) for arm in arms if arm.outcome != "pass")
    return dict(sorted(found.items(), key=lambda item: (-item[1], OUTCOMES.index(item[0][0]), item[0][1])))
