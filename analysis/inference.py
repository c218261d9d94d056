"""One function from outcomes and a registered family to every number of the analysis.

Invariant: registered slots are exactly those of the family, in its order, each with a p (1 where it is unavailable);
everything else is exploratory and takes part in no adjustment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from analysis import bootstrap
from analysis.clustered import compare
from analysis.falsifiers import Metrics, Value, check, outcome_metrics
from analysis.family import Contrast, Family, FamilyError
from analysis.gates import contrast_gates, headroom, strata, warmup
from analysis.intervals import Interval
from analysis.majority import majority
from analysis.mcnemar import per_seed, pooled
from analysis.outcomes import Outcomes
from analysis.power import boundary, detectable
from analysis.rates import Rate, rate
from analysis.records import COUNTED, CellRecord, Endpoint, RecordError
from analysis.result import (
    GATE_FAILS,
    NO_BASELINE,
    NO_HEADROOM,
    NOT_SEPARATED,
    UNAVAILABLE,
    ConditionRates,
    Inference,
    Reading,
    Sensitivities,
    Slot,
    adjusted,
)
from analysis.slices import exclusions, slices, standardised


@dataclass(frozen=True)
class Extras:
    """What outcomes do not tell: hygiene metrics by name and condition, the baseline's warm-up (passed, sessions),
    traps that have poison, further comparisons to explore, conditions that are compared with none unless registered
    (instruments), and the bootstrap's effort."""

    metrics: Metrics = field(default_factory=dict)
    warmup: tuple[int, int] | None = None
    poisoned: frozenset[str] = frozenset()
    explore: tuple[tuple[str, str], ...] = ()
    instruments: frozenset[str] = frozenset()
    resamples: int = bootstrap.RESAMPLES
    seed: int = bootstrap.SEED


def infer(outcomes: Outcomes, family: Family, extras: Extras | None = None) -> Inference:
    """Every number. Raises RecordError for outcomes that do not fit the plan, FamilyError for a family that does not
    fit the outcomes (its primary endpoint is not there; a slot called unavailable that has cells)."""
    extras = extras or Extras()
    _check_plan(outcomes, family)
    removed = tuple(sorted(trap for trap, info in outcomes.traps.items() if info.removed))
    order = sorted(outcomes.cells, key=lambda endpoint: endpoint != family.endpoint)
    readers = list(dict.fromkeys(c.reader for cells in outcomes.cells.values() for c in cells))
    readings = [_Reader(outcomes, family, extras, endpoint, reader).read() for reader in readers for endpoint in order]
    kept = len(outcomes.traps) - len(removed)
    return Inference(family.name, family.digest, family.alpha, family.endpoint, kept, removed, tuple(readings))


def _check_plan(outcomes: Outcomes, family: Family) -> None:
    if family.endpoint not in outcomes.cells:
        raise FamilyError(f"{family.name}: primary endpoint {family.endpoint!r}, which no row tells")
    if family.traps is not None and len(outcomes.traps) != family.traps:
        raise RecordError(None, f"the family registers {family.traps} traps, the rows tell of {len(outcomes.traps)}")
    have = {cell.seed for cells in outcomes.cells.values() for cell in cells}
    if family.seeds and have != set(family.seeds):
        raise RecordError(None, f"the family registers seeds {sorted(family.seeds)}, the rows have {sorted(have)}")
    ran = {cell.condition for cell in outcomes.cells[family.endpoint] if cell.outcome in COUNTED}
    for contrast in family.contrast:
        if contrast.unavailable and {contrast.first, contrast.second} <= ran:
            raise FamilyError(f"{family.name}: {contrast.id} is registered as unavailable, and both sides have cells")


class _Reader:
    """One reading, step by step; holds what the steps share."""

    def __init__(self, outcomes: Outcomes, family: Family, extras: Extras, endpoint: Endpoint, reader: str) -> None:
        self._outcomes, self._family, self._extras = outcomes, family, extras
        self._endpoint, self._reader = endpoint, reader
        self._all = self._by_condition(endpoint, removed=True)
        self._cells = self._by_condition(endpoint, removed=False)
        baseline = rate(self._cells.get(family.gates.baseline, ()))
        self._headroom = headroom(baseline, family.gates)

    def read(self) -> Reading:
        family, gates = self._family, self._family.gates
        passed, sessions = self._extras.warmup or (None, None)
        matched = self._by_condition("matched", removed=False) or None
        measured: dict[str, Mapping[str, Value | None]] = dict(self._extras.metrics)
        for name, values in outcome_metrics(self._cells).items():  # what the cells say goes before what was told
            measured[name] = {**measured.get(name, {}), **values}
        return Reading(
            endpoint=self._endpoint,
            reader=self._reader,
            headline=self._endpoint == family.endpoint,
            rates={name: self._rates(cells) for name, cells in self._cells.items()},
            gates=(self._headroom, warmup(passed, sessions, gates)),
            strata=strata(self._cells, gates, matched=matched, poisoned=self._extras.poisoned),
            slots=self._registered(),
            exploratory=tuple(self._slot(c, registered=False) for c in self._explored()),
            falsifiers=check(family.falsifier, measured),
        )

    def _by_condition(self, endpoint: Endpoint, *, removed: bool) -> dict[str, list[CellRecord]]:
        found: dict[str, list[CellRecord]] = {}
        for cell in self._outcomes.cells.get(endpoint, ()):
            if cell.reader == self._reader and (removed or not self._outcomes.traps[cell.trap].removed):
                found.setdefault(cell.condition, []).append(cell)
        return found

    def _rates(self, cells: Sequence[CellRecord]) -> ConditionRates:
        found = rate(cells)
        seeds = sorted({cell.seed for cell in cells})
        by_trap: dict[str, list[CellRecord]] = {}
        for cell in cells:
            by_trap.setdefault(cell.trap, []).append(cell)
        full = [g for g in by_trap.values() if len(g) == len(seeds) and all(c.outcome in COUNTED for c in g)]
        return ConditionRates(
            found,
            found.interval(),
            self._bca(bootstrap.rate_clusters(cells)),
            {seed: rate(cell for cell in cells if cell.seed == seed) for seed in seeds},
            Rate(sum(all(c.outcome == "pass" for c in group) for group in full), len(full)),
        )

    def _bca(self, clusters: bootstrap.Clusters) -> Interval | None:
        return bootstrap.bca(clusters, resamples=self._extras.resamples, seed=self._extras.seed)

    def _registered(self) -> tuple[Slot, ...]:
        slots = [self._slot(contrast, registered=True) for contrast in self._family.contrast]
        return adjusted(slots, self._verdict)

    def _explored(self) -> list[Contrast]:
        """What was asked for, and each condition against the baseline, as far as it is not registered."""
        baseline = self._family.gates.baseline
        wanted = [*self._extras.explore]
        if baseline in self._cells:
            others = [name for name in self._cells if name != baseline and name not in self._extras.instruments]
            wanted += [(name, baseline) for name in others]
        pairs = {frozenset(pair): pair for pair in reversed(wanted) if not self._family.registers(*pair)}
        for name in {name for pair in self._extras.explore for name in pair} - set(self._cells):
            raise FamilyError(f"no rows of condition {name!r} to explore")
        return [Contrast(id=f"{a} - {b}", first=a, second=b) for a, b in reversed(pairs.values())]

    def _why_unavailable(self, contrast: Contrast) -> str:
        if contrast.unavailable:
            return contrast.unavailable
        for name in (contrast.first, contrast.second):
            if not any(cell.outcome in COUNTED for cell in self._cells.get(name, ())):
                return f"no counted cell of {name}"
        return ""

    def _slot(self, contrast: Contrast, *, registered: bool) -> Slot:
        names = (contrast.id, contrast.first, contrast.second, contrast.primary)
        if why := self._why_unavailable(contrast):
            return Slot(*names, why, Fraction(1), None, UNAVAILABLE)
        first, second = self._cells[contrast.first], self._cells[contrast.second]
        test = compare(first, second)
        edge = boundary(test.k, self._family.alpha)
        return Slot(
            *names,
            unavailable="",
            p=test.p,
            holm=None,
            verdict=NOT_SEPARATED if registered else "exploratory",
            test=test,
            difference=self._bca(bootstrap.difference_clusters(first, second)),
            gates=contrast_gates(first, second, self._family.gates) if registered else (),
            boundary=edge,
            detectable=detectable(test.k, alpha=self._family.alpha),
            sensitivities=self._sensitivities(contrast),
        )

    def _sensitivities(self, contrast: Contrast) -> Sensitivities:
        first, second = self._cells[contrast.first], self._cells[contrast.second]
        traps, mix = self._outcomes.traps, self._family.construct_mix
        return Sensitivities(
            pooled=pooled(first, second),
            pooled_holm=None,
            per_seed=per_seed(first, second),
            per_seed_holm={},
            majority=majority(first, second),
            majority_holm=None,
            slices=slices(self._all[contrast.first], self._all[contrast.second], traps, self._outcomes.carried),
            standardised=standardised(first, second, traps, mix),
            exclusions=exclusions(first, second),
        )

    def _verdict(self, slot: Slot, adjusted_p: Fraction) -> str:
        if slot.test is None:
            return UNAVAILABLE
        if self._headroom.status != "holds":
            return NO_HEADROOM if self._headroom.status == "fails" else NO_BASELINE
        if adjusted_p > Fraction(str(self._family.alpha)):
            return NOT_SEPARATED
        if any(gate.status != "holds" for gate in slot.gates):
            return GATE_FAILS
        return slot.ahead
