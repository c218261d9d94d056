"""Slices and sensitivities of one contrast: the same exact test on parts of the traps. Descriptive, never a headline.

Invariant: a slice takes whole traps (or, where it says so, whole cells), so the seeds of a trap stay together; p in a
slice is not adjusted and claims nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from analysis.clustered import sign_test
from analysis.gates import construct_order
from analysis.outcomes import TrapInfo
from analysis.pairs import Key, Pair, paired
from analysis.records import COUNTED, CellRecord

#: First words of causes that the published rule excludes: the agent program itself broke down.
CRASHES = ("agent", "crash", "timeout", "capture limit")


@dataclass(frozen=True)
class Slice:
    """The clustered test over some paired cells. Rates are over those cells."""

    dimension: str
    value: str
    traps: int
    paired: int
    first_passed: int
    second_passed: int
    b: int
    c: int
    D: int
    k: int
    p: Fraction


@dataclass(frozen=True)
class Standardised:
    """Rates weighted to a mix of constructs, over paired cells; None when a construct of the mix has no paired cell.

    rate = sum_c w_c rate_c / sum_c w_c (direct standardisation), w_c the number of traps in the mix.
    """

    first: float | None
    second: float | None
    difference: float | None
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Exclusions:
    """The published rule and its bounds: `published` leaves `excluded` cells out; `best` fills every cell that is
    out on a side in favour of the first condition (it passes, the second fails), `worst` in favour of the second."""

    excluded: int
    published: Slice
    best: Slice
    worst: Slice


def slice_of(dimension: str, value: str, pairs: Mapping[Key, Pair]) -> Slice:
    """The test over the pairs given."""
    scores: dict[str, int] = {}
    for (trap, _), (a, b) in pairs.items():
        scores[trap] = scores.get(trap, 0) + a - b
    values = list(pairs.values())
    wins, losses = values.count((True, False)), values.count((False, True))
    both = values.count((True, True))
    return Slice(
        dimension,
        value,
        traps=len(scores),
        paired=len(values),
        first_passed=both + wins,
        second_passed=both + losses,
        b=wins,
        c=losses,
        D=wins - losses,
        k=sum(1 for score in scores.values() if score),
        p=sign_test(scores.values()),
    )


def slices(
    first: Sequence[CellRecord],
    second: Sequence[CellRecord],
    traps: Mapping[str, TrapInfo],
    carried: Collection[tuple[str, str, int]] = (),
) -> tuple[Slice, ...]:
    """By construct, family, fixture, evidence and clean start; each construct left out; without cells whose start
    tree carried a fact; with traps that were removed later. A dimension that no trap tells is not there.

    Every slice but the last is without removed traps. Raises RecordError as `pairs.paired`.
    """
    everything = paired(first, second)
    info = {trap: traps.get(trap, TrapInfo()) for trap, _ in everything}
    pairs = {key: pair for key, pair in everything.items() if not info[key[0]].removed}
    found: list[Slice] = []
    for dimension, label in _DIMENSIONS.items():
        values = {label(info[trap]) for trap, _ in pairs} - {""}
        for value in sorted(values, key=construct_order):
            found.append(slice_of(dimension, value, {k: p for k, p in pairs.items() if label(info[k[0]]) == value}))
    constructs = sorted({info[trap].construct for trap, _ in pairs}, key=construct_order)
    if len(constructs) > 1:
        for value in constructs:
            rest = {k: p for k, p in pairs.items() if info[k[0]].construct != value}
            found.append(slice_of("without construct", value, rest))
    sides = {cell.condition for cell in (*first[:1], *second[:1])}
    tainted = {(trap, seed) for trap, condition, seed in carried if condition in sides}
    if tainted & set(pairs):
        clean = {key: pair for key, pair in pairs.items() if key not in tainted}
        found.append(slice_of("carried_by_tree", "cells left out", clean))
    if len(everything) > len(pairs):
        found.append(slice_of("removed later", "traps put back", everything))
    return tuple(found)


def subset(first: Sequence[CellRecord], second: Sequence[CellRecord], keep: Callable[[str], bool], name: str) -> Slice:
    """The test over the traps that `keep` takes, for questions that no label answers."""
    return slice_of("subset", name, {key: pair for key, pair in paired(first, second).items() if keep(key[0])})


def standardised(
    first: Sequence[CellRecord],
    second: Sequence[CellRecord],
    traps: Mapping[str, TrapInfo],
    mix: Mapping[str, int],
) -> Standardised:
    """Rates over paired cells as if constructs had the shares of `mix`. Raises RecordError as `pairs.paired`."""
    by_construct: dict[str, list[Pair]] = {}
    for (trap, _), pair in paired(first, second).items():
        info = traps.get(trap, TrapInfo())
        if not info.removed:
            by_construct.setdefault(info.construct, []).append(pair)
    missing = tuple(construct for construct in mix if construct not in by_construct)
    if missing or not mix:
        return Standardised(None, None, None, missing)
    total = sum(mix.values())
    shares = []
    for side in (0, 1):
        parts = (w * Fraction(sum(p[side] for p in by_construct[c]), len(by_construct[c])) for c, w in mix.items())
        shares.append(sum(parts, Fraction(0)) / total)
    return Standardised(float(shares[0]), float(shares[1]), float(shares[0] - shares[1]), ())


def crashed(cell: CellRecord) -> bool:
    """Did the agent program break down, by the cause? (It counts as `failed` here; the publication excluded it.)"""
    return cell.outcome == "failed" and cell.cause.lower().startswith(CRASHES)


def exclusions(
    first: Sequence[CellRecord], second: Sequence[CellRecord], crash: Callable[[CellRecord], bool] = crashed
) -> Exclusions:
    """The contrast with agent crashes excluded, and with every excluded or uncounted cell filled both ways."""
    sides = [{(c.trap, c.seed): _known(c, crash) for c in side} for side in (first, second)]
    planned = sorted(set(sides[0]) | set(sides[1]))
    both = {key: (sides[0].get(key), sides[1].get(key)) for key in planned}
    kept = {key: (a, b) for key, (a, b) in both.items() if a is not None and b is not None}

    def filled(favoured: bool) -> dict[Key, Pair]:
        return {key: (favoured if a is None else a, (not favoured) if b is None else b) for key, (a, b) in both.items()}

    return Exclusions(
        excluded=len(both) - len(kept),
        published=slice_of("exclusions", "published rule", kept),
        best=slice_of("exclusions", "best case", filled(True)),
        worst=slice_of("exclusions", "worst case", filled(False)),
    )


def _known(cell: CellRecord, crash: Callable[[CellRecord], bool]) -> bool | None:
    return None if cell.outcome not in COUNTED or crash(cell) else cell.outcome == "pass"


def _clean(info: TrapInfo) -> str:
    return "" if info.clean_start is None else "clean start" if info.clean_start else "carried on"


_DIMENSIONS: dict[str, Callable[[TrapInfo], str]] = {
    "construct": lambda info: info.construct,
    "family": lambda info: info.family,
    "fixture": lambda info: info.fixture,
    "evidence": lambda info: info.evidence,
    "start": _clean,
}
