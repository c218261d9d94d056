"""Hygiene metrics: what a memory showed and what came of it, counted from tracers and oracle checks, never judged.

Every metric is a pooled numerator over a pooled denominator. Invariant: no opportunity is None and never 0, numerators
are not clamped, instruments and arms without a counted outcome are in no metric, and a harm counts only when it came
through memory (a forbidden path does not).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.funnel import Fate
from analysis.intervals import Interval
from analysis.records import COUNTED, Outcome

Count = tuple[int, int]  # numerator, denominator
Direction = Literal["up", "down"]
DRAWS, SEED = 1_000, 20_260_105


@dataclass(frozen=True)
class Repair:
    """A superseded fact and one that governs, as the store lists them. `linked` None: the listing has no links."""

    old_inactive: bool
    new_active: bool
    linked: bool | None = None

    @property
    def right(self) -> bool:
        return self.old_inactive and self.new_active and self.linked is not False


@dataclass(frozen=True)
class HygieneRow:
    """One arm at one reader level. `shown`: class of each item S3 was shown; `types`: the type of each.

    `used`: facts whose text stands in the change. `warm_up` and `check`: public checks of S1, S2 and of S3 (None: not
    run). `seen_forbidden`: did the oracle see a forbidden behaviour (None: it has none, or did not get to look).
    """

    trap: str
    construct: str
    condition: str
    seed: int
    history: str
    reader: str
    outcome: Outcome
    cause: str
    expect: str
    shown: tuple[str, ...]
    types: tuple[str, ...]
    fates: tuple[Fate, ...]
    used: tuple[str, ...]
    carried_by_tree: tuple[str, ...]
    repairs: tuple[Repair, ...]
    warm_up: tuple[bool | None, ...]
    check: bool | None
    seen_forbidden: bool | None

    @property
    def counted(self) -> bool:
        return self.outcome in COUNTED

    def of(self, *roles: str) -> list[Fate]:
        return [fate for fate in self.fates if fate.role in roles]

    @property
    def governing(self) -> list[Fate]:
        return [fate for fate in self.fates if fate.governs]


@dataclass(frozen=True)
class Metric:
    """A metric: `by_reader` false when the view alone decides it, so that reader levels cannot differ."""

    name: str
    means: str
    direction: Direction
    by_reader: bool
    count: Callable[[HygieneRow], Count]


@dataclass(frozen=True)
class Value:
    """A pooled metric. `interval` needs two traps with an opportunity."""

    numerator: int
    denominator: int
    interval: Interval | None

    @property
    def value(self) -> float | None:
        return self.numerator / self.denominator if self.denominator else None


def _precision(row: HygieneRow) -> Count:
    return (row.shown.count("useful"), len(row.shown)) if row.governing else (0, 0)


def _recall(row: HygieneRow) -> Count:
    return sum(fate.admitted for fate in row.governing), len(row.governing)


def _stale_use(row: HygieneRow) -> Count:
    old = row.of("superseded")
    return int(any(fate.stage == "used" for fate in old)), int(bool(old))


def _harmful(row: HygieneRow) -> Count:
    return sum(what in ("harmful", "stale") for what in row.shown), len(row.shown)


def _repeated_error(row: HygieneRow) -> Count:
    return int(bool(row.seen_forbidden)), int(row.seen_forbidden is not None)


def _scope(row: HygieneRow) -> Count:
    """Two sides: inside, where the fact has to be used; outside, where no forbidden behaviour may be seen."""
    if row.construct != "C5" or row.seen_forbidden is None:
        return 0, 0
    needed = {fate.name for fate in row.fates if fate.role == "governing"}
    inside = row.outcome == "pass" or (bool(needed) and needed <= set(row.used))
    return int(inside) + int(not row.seen_forbidden), 2


def _overscope(row: HygieneRow) -> Count:
    there = row.construct == "C5" and row.seen_forbidden is not None and bool(row.of("governing"))
    return int(there and bool(row.seen_forbidden)), int(there)


def _import(row: HygieneRow) -> Count:
    near = row.of("distractor", "decoy") if row.construct in ("C2", "C10") else []
    return int(any(fate.stage == "used" for fate in near)), int(bool(near))


def _repair(row: HygieneRow) -> Count:
    return sum(repair.right for repair in row.repairs), len(row.repairs)


def _feedback(row: HygieneRow) -> Count:
    said = [fate for fate in row.governing if fate.kind == "human_feedback"]
    return sum(fate.stage == "used" for fate in said), len(said)


def _transfer(row: HygieneRow) -> Count:
    """What the tree carried came from no memory."""
    needed = row.governing if row.expect == "use" else []
    carried = {fate.name for fate in needed} & set(row.carried_by_tree)
    came = row.outcome == "pass" and not carried and any(fate.admitted for fate in needed)
    return int(came), int(bool(needed))


def _regression(row: HygieneRow) -> Count:
    there = row.check is not None and bool(row.warm_up) and all(row.warm_up)
    return int(there and row.check is False), int(there)


def _abstention(row: HygieneRow) -> Count:
    there = row.expect == "abstain"
    return int(there and row.outcome == "pass"), int(there)


METRICS: tuple[Metric, ...] = (
    Metric("UsefulMemoryPrecision_traced", "useful items / items shown, where a fact governs", "up", False, _precision),
    Metric("UsefulMemoryRecall_traced", "governing facts admitted / injected", "up", False, _recall),
    Metric("HarmfulMemoryRate_traced", "harmful or stale items / items shown", "down", False, _harmful),
    Metric(
        "ContradictionRepairAccuracy_traced",
        "old fact inactive, new one active, and linked if the store lists links / pairs, in stores that tell states",
        "up",
        False,
        _repair,
    ),
    Metric("StaleUseRate_traced", "arms that use a superseded fact / arms that had one", "down", True, _stale_use),
    Metric(
        "RepeatedErrorRate_traced",
        "arms with a forbidden behaviour / arms where it was looked for",
        "down",
        True,
        _repeated_error,
    ),
    Metric("ScopeAccuracy_traced", "scope sides handled rightly / sides (C5)", "up", True, _scope),
    Metric("OverscopeRate_traced", "arms that use the fact outside of its scope / arms (C5)", "down", True, _overscope),
    Metric(
        "IrrelevantImportRate_traced",
        "arms that use a distractor or decoy / arms that had one (C2, C10)",
        "down",
        True,
        _import,
    ),
    Metric("HumanFeedbackUseAccuracy_traced", "governing feedback admitted and used / injected", "up", True, _feedback),
    Metric("TransferScore_traced", "passes with a fact from memory / arms that need one", "up", True, _transfer),
    Metric(
        "RegressionAfterUpdate_traced",
        "arms whose S3 fails its public check / arms whose S1 and S2 passed theirs",
        "down",
        True,
        _regression,
    ),
    Metric("AbstentionAccuracy_traced", "passes / arms that expect abstention", "up", True, _abstention),
)


def measure(rows: Iterable[HygieneRow], metric: Metric) -> Value:
    """Pool a metric over rows (of one condition and reader level) whose outcome counts."""
    by_trap: dict[str, list[int]] = {}
    for row in rows:
        if row.counted and (found := metric.count(row))[1]:
            sums = by_trap.setdefault(row.trap, [0, 0])
            sums[0] += found[0]
            sums[1] += found[1]
    tops, bottoms = ([sums[n] for sums in by_trap.values()] for n in (0, 1))
    return Value(sum(tops), sum(bottoms), clustered_interval(tops, bottoms))


def clustered_interval(tops: Sequence[int], bottoms: Sequence[int], confidence: float = 0.95) -> Interval | None:
    """Percentile bootstrap of sum(tops) / sum(bottoms) over traps: 1,000 seeded draws of whole traps.

    None below two traps. Raises ValueError for a trap without an opportunity.
    """
    if any(bottom <= 0 for bottom in bottoms):
        raise ValueError("a trap without an opportunity is no cluster")
    if len(tops) < 2:
        return None
    times = np.random.default_rng(SEED).multinomial(len(tops), [1 / len(tops)] * len(tops), DRAWS)
    ratios = (times @ np.array(tops)) / (times @ np.array(bottoms))
    low, high = np.quantile(ratios, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high), confidence)


def once_an_arm(rows: Iterable[HygieneRow]) -> list[HygieneRow]:
    """One counted row an arm: for what the reader level cannot change."""
    found: dict[tuple[str, str, int, str], HygieneRow] = {}
    for row in rows:
        if row.counted:
            found.setdefault((row.trap, row.condition, row.seed, row.history), row)
    return list(found.values())


def deliveries(rows: Iterable[HygieneRow]) -> dict[str, Count]:
    """type -> (arms whose view holds an item of it, arms), over one counted row an arm; "" = no type exposed."""
    arms = once_an_arm(rows)
    types = sorted({kind for row in arms for kind in row.types})
    return {kind: (sum(kind in row.types for row in arms), len(arms)) for kind in types}
