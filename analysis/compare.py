"""Two runs, A and B: contrasts over cells of equal draws, drift of the controls, and the cells that changed.

A is the first side: D > 0 says that A passed more. Invariant: only cells whose facts were drawn alike are paired,
swapping the runs flips every D and keeps every p, and nothing here is a registered test.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from analysis import bootstrap
from analysis.clustered import ClusteredTest
from analysis.clustered import compare as clustered
from analysis.holm import holm
from analysis.intervals import Interval
from analysis.rates import Rate, cells, rate
from analysis.records import COUNTED, ENDPOINTS, ArmRow, CellRecord, Endpoint, Outcome
from analysis.report import claims
from analysis.result import NO_BASELINE

BASELINE = "B0"
BAND = Fraction(1, 20)  # the drift of a rate that is no finding; docs/statistics.md says why

WITHIN = "within the band"
OUTSIDE = "outside: something other than the factor moved"
OUTSIDE_MOVABLE = "outside: the factor itself can move this control"
OUTSIDE_REPEAT = "outside: something moved, and the plans are equal"

Key = tuple[str, int]  # trap, seed
Celled = Mapping[tuple[str, str], Sequence[CellRecord]]  # by condition and reader level


@dataclass(frozen=True)
class Side:
    """One run: its planned arms (`invalid` where one did not run), its conditions and its reader levels."""

    arms: tuple[ArmRow, ...]
    conditions: tuple[str, ...]
    readers: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """A condition of A against a condition of B (mostly the same one)."""

    first: str
    second: str

    @property
    def label(self) -> str:
        return self.first if self.first == self.second else f"{self.first} of A - {self.second} of B"


@dataclass(frozen=True)
class Asked:
    """What is compared. `equal`: traps and seeds that both runs drew alike; `controls`: conditions whose drift is
    looked at; `movable`: those of them that the factor itself can move; `repeat`: the plans are equal."""

    equal: frozenset[Key]
    pairs: tuple[Pair, ...]
    controls: tuple[str, ...] = ()
    movable: frozenset[str] = frozenset()
    repeat: bool = False
    endpoints: tuple[Endpoint, ...] = ENDPOINTS
    resamples: int = bootstrap.RESAMPLES


@dataclass(frozen=True)
class Paired:
    """One pair at one endpoint and reader level. `test` is None where a run has no cell of equal draw.

    `first`, `second`: Pass@1 over the paired cells; `difference`: trap-cluster BCa interval of D / paired.
    """

    pair: Pair
    endpoint: Endpoint
    reader: str
    test: ClusteredTest | None
    difference: Interval | None
    first: Rate
    second: Rate


@dataclass(frozen=True)
class Contrast:
    """What the factor did to one pair. `holm` is over the pairs at this endpoint and reader level.

    `verdict` says what A is, by p alone; `adjusted` the same by the Holm value.
    """

    found: Paired
    holm: Fraction
    verdict: str
    adjusted: str


@dataclass(frozen=True)
class Drift:
    """A diagnostic, never a test of the factor. `changed` paired cells have another outcome in B."""

    found: Paired
    changed: int
    movable: bool
    reading: str


@dataclass(frozen=True)
class Claim:
    """What the contrasts of one pair come to over all reader levels, after Holm."""

    pair: Pair
    endpoint: Endpoint
    words: str


@dataclass(frozen=True)
class CellChange:
    """A cell that passed in one run and counted without passing in the other, at the endpoints named."""

    pair: Pair
    trap: str
    seed: int
    reader: str
    endpoints: tuple[Endpoint, ...]
    first: Outcome
    second: Outcome
    first_cause: str
    second_cause: str


@dataclass(frozen=True)
class Comparison:
    """Everything that two runs say about each other."""

    endpoints: tuple[Endpoint, ...]
    readers: tuple[str, ...]
    contrasts: tuple[Contrast, ...]
    claims: tuple[Claim, ...]
    drifts: tuple[Drift, ...]
    changes: tuple[CellChange, ...]


def levels(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Which reader level of A meets which of B: those of the same name, or each with each where none is shared."""
    shared = tuple((name, name) for name in first if name in second)
    return shared or tuple((a, b) for a in first for b in second)


def level_label(first: str, second: str) -> str:
    """How a pair of levels is named; "" where neither run has any."""
    return first if first == second else f"{first or 'none'} of A, {second or 'none'} of B"


def compare_runs(a: Side, b: Side, asked: Asked) -> Comparison:
    """Compare two runs. Raises RecordError for rows that cannot be used."""
    pairs = (*asked.pairs, *(Pair(name, name) for name in asked.controls))
    meet = levels(a.readers, b.readers)
    contrasts: list[Contrast] = []
    drifts: list[Drift] = []
    said: list[Claim] = []
    changes: dict[tuple[Pair, str, int, str], CellChange] = {}
    for endpoint in asked.endpoints:
        sides = [_cells(side.arms, endpoint, asked.equal) for side in (a, b)]
        tested: list[Contrast] = []
        for level in meet:
            chosen = {p: _chosen(sides, p, level) for p in dict.fromkeys(pairs)}
            found = {p: _paired(p, endpoint, *both, level, asked.resamples) for p, both in chosen.items()}
            tested += _contrasts([found[p] for p in asked.pairs])
            drifts += [_drift(found[p], *chosen[p], asked) for p in pairs[len(asked.pairs) :]]
            for pair, both in chosen.items():
                _note_changes(changes, pair, endpoint, *both)
        contrasts += tested
        said += [Claim(pair, endpoint, _claim(pair, tested, sides, meet)) for pair in asked.pairs]
    order = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    listed = sorted(changes.values(), key=lambda c: (order[c.pair], c.trap, c.seed, c.reader))
    named = tuple(level_label(*level) for level in meet)
    return Comparison(asked.endpoints, named, tuple(contrasts), tuple(said), tuple(drifts), tuple(listed))


def _cells(arms: Sequence[ArmRow], endpoint: Endpoint, equal: Collection[Key]) -> Celled:
    found: dict[tuple[str, str], list[CellRecord]] = {}
    for cell in cells(arms, endpoint):
        if (cell.trap, cell.seed) in equal:
            found.setdefault((cell.condition, cell.reader), []).append(cell)
    return found


def _chosen(sides: Sequence[Celled], pair: Pair, level: tuple[str, str]) -> tuple[list[CellRecord], list[CellRecord]]:
    """The cells of a pair, under one name of the reader level."""
    label = level_label(*level)
    names = zip(sides, (pair.first, pair.second), level, strict=True)
    first, second = ([replace(c, reader=label) for c in side.get((name, at), ())] for side, name, at in names)
    return first, second


def _paired(
    pair: Pair,
    endpoint: Endpoint,
    first: Sequence[CellRecord],
    second: Sequence[CellRecord],
    level: tuple[str, str],
    resamples: int,
) -> Paired:
    label = level_label(*level)
    if not first or not second:
        return Paired(pair, endpoint, label, None, None, Rate(0, 0), Rate(0, 0))
    test = clustered(first, second)
    interval = bootstrap.bca(bootstrap.difference_clusters(first, second), resamples=resamples) if test.paired else None
    rates = (Rate(test.b + test.both_pass, test.paired), Rate(test.c + test.both_pass, test.paired))
    return Paired(pair, endpoint, label, test, interval, *rates)


def _contrasts(found: Sequence[Paired]) -> list[Contrast]:
    """The pairs at one endpoint and reader level, with Holm over them."""
    adjusted = holm({str(n): one.test.p if one.test else None for n, one in enumerate(found)})
    done = []
    for number, one in enumerate(found):
        verdict = claims.verdict(one.test) if one.test else claims.NO_PAIRS
        p = adjusted[str(number)]
        holds = p <= Fraction(str(claims.ALPHA)) or verdict == claims.NO_PAIRS
        done.append(Contrast(one, p, verdict, verdict if holds else claims.NOT_SEPARATED))
    return done


def _drift(found: Paired, first: Sequence[CellRecord], second: Sequence[CellRecord], asked: Asked) -> Drift:
    other = {(c.trap, c.seed): c.outcome for c in second if c.outcome in COUNTED}
    changed = sum(1 for c in first if c.outcome in COUNTED and other.get((c.trap, c.seed), c.outcome) != c.outcome)
    movable = found.pair.first in asked.movable
    outside = OUTSIDE_REPEAT if asked.repeat else OUTSIDE_MOVABLE if movable else OUTSIDE
    test = found.test
    if test is None or not test.paired:
        return Drift(found, changed, movable, claims.NO_PAIRS)
    within = abs(Fraction(test.D, test.paired)) <= BAND and not test.separated(claims.ALPHA)
    return Drift(found, changed, movable, WITHIN if within else outside)


def _claim(pair: Pair, tested: Sequence[Contrast], sides: Sequence[Celled], meet: Sequence[tuple[str, str]]) -> str:
    """The words for one pair; the baseline must fail often enough in every run that has it, at every level."""
    seen = [rate(side.get((BASELINE, level[n]), ())) for n, side in enumerate(sides) for level in meet]
    counted = [found for found in seen if found.counted]
    if not counted:
        return NO_BASELINE
    verdicts = {c.found.reader: c.adjusted for c in tested if c.found.pair == pair}
    return claims.claim(verdicts, all(claims.has_headroom(found) for found in counted))


def _note_changes(
    known: dict[tuple[Pair, str, int, str], CellChange],
    pair: Pair,
    endpoint: Endpoint,
    first: Sequence[CellRecord],
    second: Sequence[CellRecord],
) -> None:
    """Add the cells that changed; one that changed at an endpoint before gets this one too."""
    other = {(cell.trap, cell.seed): cell for cell in second}
    for was in first:
        now = other.get((was.trap, was.seed))
        if now is None or not {was.outcome, now.outcome} <= set(COUNTED):
            continue
        if (was.outcome == "pass") == (now.outcome == "pass"):
            continue
        key = (pair, was.trap, was.seed, was.reader)
        before = known.get(key)
        known[key] = (
            replace(before, endpoints=(*before.endpoints, endpoint))
            if before
            else CellChange(
                pair, was.trap, was.seed, was.reader, (endpoint,), was.outcome, now.outcome, was.cause, now.cause
            )
        )
