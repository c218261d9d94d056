"""An analysis as tables: the registered family first, then what it rests on, and last what was not registered.

Invariant: the primary contrast is the first row whatever it shows; an unregistered comparison stands under
"exploratory" and nowhere else; a p that is not 1 is never shown as 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from analysis.gates import Gate
from analysis.intervals import Interval
from analysis.report.layout import NONE, Document, Section, Table
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


def shown(p: Fraction | None) -> str:
    """Four digits; never rounded to 0 or, below it, to 1."""
    if p is None:
        return NONE
    text = f"{float(p):.4g}"
    return "<1" if text == "1" and p < 1 else "<1e-300" if text == "0" and p else text


def _section(found: Inference, reading: Reading) -> Section:
    title = f"Endpoint {reading.endpoint}" + (f", reader {reading.reader}" if reading.reader else "")
    title += "" if reading.headline else " (not the registered endpoint)"
    slots = sorted(reading.slots, key=lambda slot: not slot.primary)
    tables = [_family(found.family, slots), _rates(reading), _sensitivities(slots), _majority(slots)]
    tables += [_gates(reading, slots), _strata(reading)]
    if reading.falsifiers:
        tables.append(_falsifiers(reading))
    tables += [_slices(slot) for slot in slots if slot.sensitivities and (slot.primary or len(slots) == 1)]
    if reading.exploratory:
        extra = reading.exploratory
        tables += [_exploratory(extra), _sensitivities(extra, "exploratory"), _majority(extra, "exploratory")]
    return Section(title, tables=tuple(tables))


def _family(name: str, slots: Sequence[Slot]) -> Table:
    rows = [(slot.id, *_slot(slot), shown(slot.p), shown(slot.holm), slot.verdict) for slot in slots]
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
    share = f"{test.D / test.paired:+.3f} {_interval(slot.difference)}" if test.paired else NONE
    return (slot.first, slot.second, f"{test.D:+d}" if test.D else "0", *(str(count) for count in counts), share)


def _exploratory(slots: Sequence[Slot]) -> Table:
    rows = tuple((*_slot(slot), shown(slot.p)) for slot in slots)
    header = ("first", "second", *_COUNTS, "difference 95 %", "p, unadjusted")
    return Table("Exploratory: not in the family", header, rows, (_ALONE,))


def _rates(reading: Reading) -> Table:
    rows = []
    for name, found in reading.rates.items():
        value = found.rate.value
        rows.append(
            (
                name,
                f"{found.rate.passed}/{found.rate.counted}" if value is not None else NONE,
                NONE if value is None else f"{value:.3f}",
                _interval(found.wilson),
                _interval(found.clustered),
                ", ".join(f"{r.passed}/{r.counted}" if r.counted else NONE for r in found.by_seed.values()),
                f"{found.all_seeds.passed}/{found.all_seeds.counted}" if found.all_seeds.counted else NONE,
            )
        )
    header = ("condition", "passed", "Pass@1", "Wilson 95 %", "trap-cluster 95 %", "by seed", "every seed")
    notes = ("Wilson takes cells as independent; the trap-cluster interval (BCa bootstrap) does not.",)
    return Table("Pass@1", header, tuple(rows), notes)


def _known(slots: Sequence[Slot]) -> Iterator[tuple[Slot, Sensitivities]]:
    for slot in slots:
        if slot.sensitivities is not None:
            yield slot, slot.sensitivities


def _sensitivities(slots: Sequence[Slot], kind: str = "registered") -> Table:
    rows = []
    for slot, found in _known(slots):
        rows.append((slot.id, "pooled", str(found.pooled.b), str(found.pooled.c), shown(found.pooled.p),
                     shown(found.pooled_holm)))  # fmt: skip
        for seed, test in found.per_seed.items():
            adjusted = shown(found.per_seed_holm.get(seed))
            rows.append((slot.id, f"seed {seed}", str(test.b), str(test.c), shown(test.p), adjusted))
    notes = ("Exact McNemar over cells as if seeds were independent; Holm over the slots, inside each seed.",)
    return Table(f"Sensitivity: McNemar ({kind})", ("slot", "cells", "b", "c", "p", "Holm p"), tuple(rows), notes)


def _majority(slots: Sequence[Slot], kind: str = "registered") -> Table:
    rows = []
    for slot, found in _known(slots):
        test, best, worst = found.majority.test, found.exclusions.best, found.exclusions.worst
        out = found.majority.incomplete + found.majority.tied
        mixed = found.standardised.difference
        rows.append(
            (
                slot.id,
                f"{test.b}:{test.c}",
                str(out),
                shown(test.p),
                shown(found.majority_holm),
                NONE if mixed is None else f"{mixed:+.3f}",
                str(found.exclusions.excluded),
                *(f"{s.D:+d} (p {shown(s.p)})" for s in (found.exclusions.published, best, worst)),
            )
        )
    header = ("slot", "majority b:c", "traps out", "p", "Holm p", "standardised", "cells excluded")
    notes = (
        "Majority of the seeds of a trap. Standardised: difference at the family's mix of constructs. Excluded: agent "
        "crashes and uncounted cells; D without them, and with each filled for and against the first condition.",
    )
    title = f"Sensitivity: majority, mix, exclusions ({kind})"
    return Table(title, (*header, "D published rule", "D best", "D worst"), tuple(rows), notes)


def _gates(reading: Reading, slots: Sequence[Slot]) -> Table:
    rows = [("run", *_gate(gate)) for gate in reading.gates]
    rows += [(slot.id, *_gate(gate)) for slot in slots for gate in slot.gates]
    return Table("Validity gates", ("of", "gate", "found", "bound", "status", "note"), tuple(rows))


def _gate(gate: Gate) -> tuple[str, ...]:
    value = NONE if gate.value is None else f"{gate.value:.3f}" if gate.value < 1 else f"{gate.value:g}"
    return gate.name, value, gate.bound, gate.status, gate.note or NONE


def _strata(reading: Reading) -> Table:
    rows = []
    for found in reading.strata:
        rates = (f"{r.passed}/{r.counted}" if r.counted else NONE for r in found.rates.values())
        rows.append((found.construct, str(found.traps), *rates, "; ".join(found.failures) or "counts"))
    return Table("Passed by construct", ("construct", "traps", *reading.rates, "stratum"), tuple(rows))


def _falsifiers(reading: Reading) -> Table:
    rows = []
    for found in reading.falsifiers:
        for bound in found.bounds:
            value = NONE if bound.value is None else f"{bound.value:.3f}"
            other = NONE if bound.reference is None else f"{bound.reference:.3f}"
            claim = found.claim if found.status == "holds" else f"withdrawn: {found.claim}"
            rows.append((found.id, bound.text, value, other, bound.status, found.status, claim))
    header = ("falsifier", "bound", "found", "other", "bound is", "falsifier", "claim")
    notes = ("One bound that fails, or that was not measured, withdraws the claim.",)
    return Table("Falsifiers", header, tuple(rows), notes)


def _slices(slot: Slot) -> Table:
    found: tuple[Slice, ...] = slot.sensitivities.slices if slot.sensitivities else ()
    rows = [
        (s.dimension, s.value, str(s.traps), f"{s.first_passed}/{s.paired}", f"{s.second_passed}/{s.paired}",
         str(s.D), str(s.k), shown(s.p))
        for s in found
    ]  # fmt: skip
    header = ("slice", "value", "traps", slot.first, slot.second, "D", "k", "p")
    return Table(f"Slices of {slot.id}", header, tuple(rows), (_ALONE,))


def _interval(found: Interval | None) -> str:
    return NONE if found is None else f"[{found.low:.3f}, {found.high:.3f}]"
