"""What an analysis finds, as plain objects, and the Holm values over a family's slots.

Invariant: every slot of the family is there with a p, and every adjustment is over as many slots as were registered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from analysis.clustered import ClusteredTest
from analysis.falsifiers import FalsifierResult
from analysis.gates import Gate, Stratum
from analysis.holm import holm
from analysis.intervals import Interval
from analysis.majority import Majority
from analysis.mcnemar import McNemar
from analysis.plain import plain
from analysis.power import Boundary
from analysis.rates import Rate
from analysis.records import Endpoint
from analysis.slices import Exclusions, Slice, Standardised

NO_HEADROOM = "no claim (the baseline leaves no headroom)"
NO_BASELINE = "no claim (no baseline shows headroom)"
GATE_FAILS = "no claim (a validity gate of the contrast fails)"
NOT_SEPARATED = "not separated"
UNAVAILABLE = "unavailable (neither a null nor a loss)"
MORE = "passes more"  # how a verdict ends that says which condition is ahead


@dataclass(frozen=True)
class ConditionRates:
    """Pass@1 of a condition with a Wilson interval (cells as independent) and a trap-cluster BCa interval;
    `by_seed` each seed; `all_seeds` traps that pass every seed, of those with every seed counted (pass^n)."""

    rate: Rate
    wilson: Interval | None
    clustered: Interval | None
    by_seed: Mapping[int, Rate]
    all_seeds: Rate


@dataclass(frozen=True)
class Sensitivities:
    """The other tests of a contrast, each with its Holm value over the family (None if exploratory)."""

    pooled: McNemar
    pooled_holm: Fraction | None
    per_seed: Mapping[int, McNemar]
    per_seed_holm: Mapping[int, Fraction]
    majority: Majority
    majority_holm: Fraction | None
    slices: tuple[Slice, ...]
    standardised: Standardised
    exclusions: Exclusions


@dataclass(frozen=True)
class Slot:
    """One contrast at one endpoint. `test` is None where the slot is unavailable; p is then 1.

    `difference` is the trap-cluster BCa interval of D / paired; `boundary` and `detectable` are for k equal traps.
    """

    id: str
    first: str
    second: str
    primary: bool
    unavailable: str
    p: Fraction
    holm: Fraction | None
    verdict: str
    test: ClusteredTest | None = None
    difference: Interval | None = None
    gates: tuple[Gate, ...] = ()
    boundary: Boundary | None = None
    detectable: float | None = None
    sensitivities: Sensitivities | None = None

    @property
    def ahead(self) -> str:
        """ "A passes more" for the side that is ahead in paired cells; "" without a test or a lead."""
        if self.test is None or not self.test.D:
            return ""
        return f"{self.first if self.test.D > 0 else self.second} {MORE}"


@dataclass(frozen=True)
class Reading:
    """Everything at one endpoint and reader level. `headline` says whether the family made its endpoint primary."""

    endpoint: Endpoint
    reader: str
    headline: bool
    rates: Mapping[str, ConditionRates]
    gates: tuple[Gate, ...]
    strata: tuple[Stratum, ...]
    slots: tuple[Slot, ...]
    exploratory: tuple[Slot, ...]
    falsifiers: tuple[FalsifierResult, ...]


@dataclass(frozen=True)
class Inference:
    """The result: readings with the primary endpoint first. `as_data` is what `--json` prints."""

    family: str
    digest: str
    alpha: float
    endpoint: Endpoint
    traps: int
    removed: tuple[str, ...]
    readings: tuple[Reading, ...]

    def as_data(self) -> object:
        """Plain data: every p as {"exact": "n/d", "value": float}."""
        return plain(self)


def adjusted(slots: Sequence[Slot], verdict: Callable[[Slot, Fraction], str]) -> tuple[Slot, ...]:
    """The slots with every Holm value: over the family for the clustered, pooled and majority tests, inside each seed
    for the per-seed tests. The number of slots is the family's in all of them."""
    main = holm({slot.id: slot.p for slot in slots})
    known = {slot.id: slot.sensitivities for slot in slots}
    pool = holm({name: s.pooled.p if s else None for name, s in known.items()})
    major = holm({name: s.majority.test.p if s else None for name, s in known.items()})
    seeds = sorted({seed for s in known.values() if s for seed in s.per_seed})
    inside = {
        seed: holm({name: s.per_seed[seed].p if s and seed in s.per_seed else None for name, s in known.items()})
        for seed in seeds
    }
    done = []
    for slot in slots:
        found = slot.sensitivities
        if found is not None:
            found = replace(
                found,
                pooled_holm=pool[slot.id],
                per_seed_holm={seed: inside[seed][slot.id] for seed in found.per_seed},
                majority_holm=major[slot.id],
            )
        done.append(replace(slot, holm=main[slot.id], verdict=verdict(slot, main[slot.id]), sensitivities=found))
    return tuple(done)
