"""Falsifiers: bounds registered before the run that withdraw a claim when they fail. Every one is reported.

Invariant: a bound on a value that was not measured neither holds nor fails, and supports no claim; nothing is rounded
before it is compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from analysis.family import Bound, Falsifier
from analysis.rates import rate
from analysis.records import COUNTED, CellRecord

Status = Literal["holds", "fails", "not measured"]
Value = Fraction | float
Metrics = Mapping[str, Mapping[str, Value | None]]  # by metric, by condition

PASS = "Pass@1"
SPREAD = "SeedSpread"
_HAIR = 1e-9  # absorbs binary fractions: 0.35 - 0.20 is not above 0.15


@dataclass(frozen=True)
class BoundResult:
    """One bound with the value found and, for a relative bound, the other condition's value."""

    text: str
    value: float | None
    reference: float | None
    status: Status


@dataclass(frozen=True)
class FalsifierResult:
    """`fails` if any bound fails, else `not measured` if any was not, else `holds`."""

    id: str
    claim: str
    status: Status
    bounds: tuple[BoundResult, ...]


def outcome_metrics(cells: Mapping[str, Sequence[CellRecord]]) -> dict[str, dict[str, Value | None]]:
    """Pass@1 and SeedSpread (highest less lowest seed's Pass@1) of each condition; None without a counted cell."""
    found: dict[str, dict[str, Value | None]] = {PASS: {}, SPREAD: {}}
    for condition, records in cells.items():
        all_seeds = rate(records)
        found[PASS][condition] = Fraction(all_seeds.passed, all_seeds.counted) if all_seeds.counted else None
        found[SPREAD][condition] = _spread(records)
    return found


def check(falsifiers: Sequence[Falsifier], metrics: Metrics) -> tuple[FalsifierResult, ...]:
    """Every falsifier against the metrics, in the registered order."""
    return tuple(_check(f, metrics) for f in falsifiers)


def _check(falsifier: Falsifier, metrics: Metrics) -> FalsifierResult:
    bounds = tuple(_bound(bound, metrics.get(bound.metric, {})) for bound in falsifier.bound)
    found = {bound.status for bound in bounds}
    status: Status = "fails" if "fails" in found else "not measured" if "not measured" in found else "holds"
    return FalsifierResult(falsifier.id, falsifier.claim, status, bounds)


def _bound(bound: Bound, values: Mapping[str, Value | None]) -> BoundResult:
    other = bound.no_worse_than or bound.below
    value = _float(values.get(bound.condition))
    reference = _float(values.get(other)) if other else None
    subject = f"{bound.metric} of {bound.condition}"
    limit: float | None
    if bound.at_most is not None:
        text, limit, sign = f"{subject} <= {bound.at_most:g}", bound.at_most, -1
    elif bound.at_least is not None:
        text, limit, sign = f"{subject} >= {bound.at_least:g}", bound.at_least, 1
    elif bound.no_worse_than is not None:
        text, limit, sign = f"{subject} <= that of {other}", reference, -1
    else:
        gap = bound.by or 0.0
        limit = None if reference is None else reference - gap
        text, sign = f"{subject} at most {gap:g} below {other}", 1
    if value is None or limit is None:
        return BoundResult(text, value, reference, "not measured")
    return BoundResult(text, value, reference, "holds" if sign * (value - limit) >= -_HAIR else "fails")


def _float(value: Value | None) -> float | None:
    return None if value is None else float(value)


def _spread(records: Sequence[CellRecord]) -> Value | None:
    seeds = {record.seed for record in records if record.outcome in COUNTED}
    if not seeds:
        return None
    rates = [rate(record for record in records if record.seed == seed) for seed in seeds]
    shares = [Fraction(r.passed, r.counted) for r in rates]
    return max(shares) - min(shares)
