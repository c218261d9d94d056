"""An analysis as tables: the registered family first, then what it rests on, and last what was not registered.

Invariant: the primary contrast is the first row whatever it shows; an unregistered comparison stands under
"exploratory" and nowhere else; a p that is not 1 is never shown as 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from analysis.gates import Gate
from analysis.mcnemar import McNemar
from analysis.report.layout import NONE, Document, Section, Table
from analysis.report.numbers import interval, p_value, ratio, share, signed
from analysis.result import Inference, Reading, Sensitivities, Slot
from analysis.slices import Slice

_ALONE = "p of one comparison by itself; nothing is claimed from it."


def document(found: Inference) -> Document:
    """The tables of every reading, the primary endpoint first."""
    head = (
        f"Family {found.family}, digest {found.digest[:16]}; primary endpoint {found.endpoint}, alpha {found.alpha:g}.",
        f"{found.traps} traps"
        + (f"; removed later and left out: {', '.join(found.removed)}." if found.removed else "."),
        '"Not separated" does not say that two conditions are alike.',
    )
    return Document("Exact inference", head, tuple(_section(found, reading) for reading in found.readings))


def _section(found: Inference, reading: Reading) -> Section:
    title = f"Endpoint {reading.endpoint}" + (f", reader {reading.reader}" if reading.reader else "")
    title += "" if reading.headline else " (not the registered endpoint)"
    slots = sorted(reading.slots, key=lambda slot: not slot.primary)
    tables = [family_table(found.family, slots), rates_table(reading), mcnemar_table(slots), majority_table(slots)]
    tables += [gates_table(reading, slots), strata_table(reading)]
    if reading.falsifiers:
        tables.append(falsifiers_table(reading))
    tables += [slices_table(slot) for slot in slots if slot.sensitivities and (slot.primary or len(slots) == 1)]
    if reading.exploratory:
        extra = reading.exploratory
        tables += [exploratory_table(extra), mcnemar_table(extra, "exploratory"), majority_table(extra, "exploratory")]
    return Section(title, tables=tuple(tables))


def family_table(name: str, slots: Sequence[Slot]) -> Table:
    """Every registered slot with its exact and its Holm p."""
    rows = [(slot.id, *_slot(slot), p_value(slot.p), p_value(slot.holm), slot.verdict) for slot in slots]
    header = ("slot", "first", "second", *_COUNTS, "difference 95 %", "p", "Holm p", "verdict")
    unavailable = tuple(
        f"{slot.id}: {slot.unavailable}; it keeps p = 1 and its place." for slot in slots if not slot.test
    )
    notes = (
        "Exact trap-clustered sign test, two-sided. D = b - c over paired cells, k: traps with a difference. Holm over "
        f"{len(slots)} registered slots. Difference: D / paired with a trap-cluster BCa interval.",
        *unavailable,
    )
    return Table(f"Registered family: {name}", header, tuple(rows), notes)


_COUNTS = ("D", "b", "c", "k", "zero", "paired", "excluded")


def _slot(slot: Slot) -> tuple[str, ...]:
    test = slot.test
    if test is None:
        return (slot.first, slot.second, *(NONE,) * (len(_COUNTS) + 1))
    counts = (test.b, test.c, test.k, test.zero_traps, test.paired, test.excluded)
    lead = f"{test.D / test.paired:+.3f} {interval(slot.difference)}" if test.paired else NONE
    return (slot.first, slot.second, signed(test.D), *(str(count) for count in counts), lead)


def exploratory_table(slots: Sequence[Slot]) -> Table:
    """Comparisons that nothing registered, with p as it is."""
    rows = tuple((*_slot(slot), p_value(slot.p)) for slot in slots)
    header = ("first", "second", *_COUNTS, "difference 95 %", "p, unadjusted")
    return Table("Exploratory: not in the family", header, rows, (_ALONE,))


def rates_table(reading: Reading) -> Table:
    """Pass@1 of each condition with both intervals, by seed and over all seeds."""
    rows = []
    for name, found in reading.rates.items():
        by_seed = ", ".join(ratio(r) for r in found.by_seed.values())
        intervals = (interval(found.wilson), interval(found.clustered))
        rows.append((name, ratio(found.rate), share(found.rate.value), *intervals, by_seed, ratio(found.all_seeds)))
    header = ("condition", "passed", "Pass@1", "Wilson 95 %", "trap-cluster 95 %", "by seed", "every seed")
    notes = ("Wilson takes cells as independent; the trap-cluster interval (BCa bootstrap) does not.",)
    return Table("Pass@1", header, tuple(rows), notes)


def _known(slots: Sequence[Slot]) -> Iterator[tuple[Slot, Sensitivities]]:
    for slot in slots:
        if slot.sensitivities is not None:
            yield slot, slot.sensitivities


def mcnemar_table(slots: Sequence[Slot], kind: str = "registered") -> Table:
    """Pooled and per-seed McNemar, one line a slot."""
    known = list(_known(slots))
    seeds = sorted({seed for _, found in known for seed in found.per_seed})
    rows = []
    for slot, found in known:
        cells = [_mcnemar(found.pooled, found.pooled_holm)]
        cells += [_mcnemar(found.per_seed.get(seed), found.per_seed_holm.get(seed)) for seed in seeds]
        rows.append((slot.id, *(cell for two in cells for cell in two)))
    columns = [(f"{where} b:c", "p") for where in ("pooled", *(f"seed {seed}" for seed in seeds))]
    notes = (
        "Exact McNemar over cells as if seeds were independent; in brackets Holm over the registered slots, inside "
        "each seed.",
    )
    header = ("slot", *(cell for two in columns for cell in two))
    return Table(f"Sensitivity: McNemar ({kind})", header, tuple(rows), notes)


def _mcnemar(test: McNemar | None, holm: Fraction | None) -> tuple[str, str]:
    if test is None:
        return NONE, NONE
    return f"{test.b}:{test.c}", p_value(test.p) + ("" if holm is None else f" ({p_value(holm)})")


def majority_table(slots: Sequence[Slot], kind: str = "registered") -> Table:
    """Majority collapse, standardised difference, and the exclusion rule with its bounds, one line a slot."""
    rows = []
    for slot, found in _known(slots):
        test, bounds = found.majority.test, found.exclusions
        mixed = found.standardised.difference
        rows.append(
            (
                slot.id,
                f"{test.b}:{test.c}",
                str(found.majority.incomplete + found.majority.tied),
                p_value(test.p),
                p_value(found.majority_holm),
                NONE if mixed is None else f"{mixed:+.3f}",
                str(bounds.excluded),
                *(f"{signed(s.D)} (p {p_value(s.p)})" for s in (bounds.published, bounds.best, bounds.worst)),
            )
        )
    header = ("slot", "majority b:c", "traps out", "p", "Holm p", "standardised", "cells excluded")
    notes = (
        "Majority of the seeds of a trap. Standardised: difference at the family's mix of constructs. Excluded: agent "
        "crashes and uncounted cells; D without them, and with each filled for and against the first condition.",
    )
    title = f"Sensitivity: majority, mix, exclusions ({kind})"
    return Table(title, (*header, "D published rule", "D best", "D worst"), tuple(rows), notes)


def gates_table(reading: Reading, slots: Sequence[Slot]) -> Table:
    """The run's gates, then those of each slot."""
    rows = [("run", *_gate(gate)) for gate in reading.gates]
    rows += [(slot.id, *_gate(gate)) for slot in slots for gate in slot.gates]
    return Table("Validity gates", ("of", "gate", "found", "bound", "status", "note"), tuple(rows))


def _gate(gate: Gate) -> tuple[str, ...]:
    value = NONE if gate.value is None else f"{gate.value:.3f}" if gate.value < 1 else f"{gate.value:g}"
    return gate.name, value, gate.bound, gate.status, gate.note or NONE


def strata_table(reading: Reading, label: Callable[[str], str] = str) -> Table:
    """Passes by construct and condition, and why a construct supports no claim."""
    rows = []
    for found in reading.strata:
        rates = (ratio(found.rates.get(name)) for name in reading.rates)
        rows.append((found.construct, str(found.traps), *rates, "; ".join(found.failures) or "counts"))
    return Table("Passed by construct", ("construct", "traps", *map(label, reading.rates), "stratum"), tuple(rows))


def falsifiers_table(reading: Reading) -> Table:
    """Every bound of every falsifier, and the claims that fall with one."""
    rows = []
    for found in reading.falsifiers:
        for bound in found.bounds:
            claim = found.claim if found.status == "holds" else f"withdrawn: {found.claim}"
            values = (share(bound.value), share(bound.reference))
            rows.append((found.id, bound.text, *values, bound.status, found.status, claim))
    header = ("falsifier", "bound", "found", "other", "bound is", "falsifier", "claim")
    notes = ("One bound that fails, or that was not measured, withdraws the claim.",)
    return Table("Falsifiers", header, tuple(rows), notes)


def slices_table(slot: Slot) -> Table:
    """The test on parts of the traps."""
    found: tuple[Slice, ...] = slot.sensitivities.slices if slot.sensitivities else ()
    rows = [
        (s.dimension, s.value, str(s.traps), f"{s.first_passed}/{s.paired}", f"{s.second_passed}/{s.paired}",
         signed(s.D), str(s.k), p_value(s.p))
        for s in found
    ]  # fmt: skip
    header = ("slice", "value", "traps", slot.first, slot.second, "D", "k", "p")
    return Table(f"Slices of {slot.id}", header, tuple(rows), (_ALONE,))
