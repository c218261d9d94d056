"""Validity gates: what must be true of a run before its numbers may carry a claim.

Invariant: a gate says `holds`, `fails` or `not measured` with the number it looked at; shares are compared as
fractions of counts, so a bound is never missed or met by rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from analysis.family import Gates
from analysis.pairs import by_trap, paired
from analysis.rates import Rate, rate, rates_by
from analysis.records import COUNTED, CellRecord

Status = Literal["holds", "fails", "not measured"]
ByCondition = Mapping[str, Sequence[CellRecord]]


@dataclass(frozen=True)
class Gate:
    """One gate. `value` is a share or a count; `note` is what follows, in words, when it matters."""

    name: str
    status: Status
    value: float | None
    bound: str
    note: str = ""


@dataclass(frozen=True)
class Stratum:
    """One construct: rates by condition, and why it supports no claim (empty if it does)."""

    construct: str
    traps: int
    rates: Mapping[str, Rate]
    failures: tuple[str, ...]

    @property
    def counts(self) -> bool:
        return not self.failures


def headroom(baseline: Rate, gates: Gates) -> Gate:
    """Baseline S3 rate within the bound, and whether it is within the preferred one."""
    share = _share(baseline.passed, baseline.counted)
    note = ""
    if share is not None and _exact(gates.headroom_preferred) < share <= _exact(gates.headroom):
        note = f"above the preferred {gates.headroom_preferred:g}: every claim carries a caveat about difficulty"
    return _gate(f"{gates.baseline} headroom", share, "<=", gates.headroom, note)


def warmup(passed: int | None, sessions: int | None, gates: Gates) -> Gate:
    """Share of the baseline's S1 and S2 that passed; None where it was not recorded."""
    share = None if passed is None or sessions is None else _share(passed, sessions)
    gate = _gate(f"{gates.baseline} warm-up", share, ">=", gates.warmup)
    if gate.status == "holds":
        return gate
    return Gate(gate.name, gate.status, gate.value, gate.bound, "S3 failures are not called memory failures")


def contrast_gates(first: Sequence[CellRecord], second: Sequence[CellRecord], gates: Gates) -> tuple[Gate, ...]:
    """Enough traps with enough paired seeds, and few enough exclusions on each side."""
    pairs = by_trap(paired(first, second))
    enough = sum(1 for found in pairs.values() if len(found) >= gates.min_paired_seeds)
    found = [
        Gate(
            f"traps with {gates.min_paired_seeds} or more paired seeds",
            "holds" if enough >= gates.min_traps else "fails",
            float(enough),
            f">= {gates.min_traps}",
        )
    ]
    for name, side in (("first", first), ("second", second)):
        counted = sum(1 for cell in side if cell.outcome in COUNTED)
        share = _share(len(side) - counted, len(side))
        found.append(_gate(f"exclusions of the {name} side", share, "<=", gates.max_excluded))
    return tuple(found)


def strata(
    cells: ByCondition,
    gates: Gates,
    *,
    matched: ByCondition | None = None,
    poisoned: Collection[str] = (),
) -> tuple[Stratum, ...]:
    """Each construct: does its best condition reach the floor, do conditions differ, has the baseline headroom?

    The baseline and POISON are judged at the `matched` endpoint where it is given; POISON only over `poisoned` traps.
    POISON is never the best condition.
    """
    judged = matched if matched is not None else cells
    constructs = sorted({c.construct for side in cells.values() for c in side}, key=construct_order)
    rates = {name: rates_by(side, lambda cell: cell.construct) for name, side in cells.items()}
    found = []
    for construct in constructs:
        by_condition = {name: by.get(construct, Rate(0, 0)) for name, by in rates.items()}
        here = [c for c in judged.get(gates.baseline, ()) if c.construct == construct]
        bad = [c for c in judged.get(gates.poison, ()) if c.construct == construct and c.trap in poisoned]
        traps = {c.trap for side in cells.values() for c in side if c.construct == construct}
        failures = (*_spread_failures(by_condition, gates), *_bad_rates(rate(here), rate(bad), gates))
        found.append(Stratum(construct, len(traps), by_condition, failures))
    return tuple(found)


def construct_order(name: str) -> tuple[int, str]:
    """C2 before C10."""
    digits = name[1:]
    return (int(digits) if digits.isascii() and digits.isdigit() else 0, name)


def _spread_failures(by_condition: Mapping[str, Rate], gates: Gates) -> list[str]:
    shares = [_share(r.passed, r.counted) for name, r in by_condition.items() if name != gates.poison]
    known = [share for share in shares if share is not None]
    if not known:
        return ["no counted cell"]
    failures = []
    if max(known) < _exact(gates.stratum_best):
        failures.append(f"the best condition reaches {float(max(known)):.3f}, below {gates.stratum_best:g}")
    if max(known) == min(known):
        failures.append("conditions do not differ")
    return failures


def _bad_rates(baseline: Rate, poison: Rate, gates: Gates) -> list[str]:
    failures = []
    if not baseline.counted:
        failures.append(f"no {gates.baseline} to show headroom")
    elif Fraction(baseline.passed, baseline.counted) > _exact(gates.headroom):
        failures.append(f"no headroom: {gates.baseline} passes {baseline.passed}/{baseline.counted}")
    if poison.counted and Fraction(poison.passed, poison.counted) > _exact(gates.poison_max):
        failures.append(f"poison does no harm: {gates.poison} passes {poison.passed}/{poison.counted}")
    return failures


def _gate(name: str, share: Fraction | None, sign: Literal["<=", ">="], bound: float, note: str = "") -> Gate:
    status: Status = "not measured"
    if share is not None:
        good = share <= _exact(bound) if sign == "<=" else share >= _exact(bound)
        status = "holds" if good else "fails"
    return Gate(name, status, None if share is None else float(share), f"{sign} {bound:g}", note)


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def _exact(bound: float) -> Fraction:
    """The decimal that was written, not its binary neighbour."""
    return Fraction(str(bound))
