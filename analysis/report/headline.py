"""The first section: Pass@1 of every condition at both endpoints, and what may be claimed from it.

Invariant: the primary registered contrast is the first row after the rates, whatever it shows; an instrument is in no
list of claims; what nothing registered stands in a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.records import Endpoint
from analysis.report.claims import claim, unregistered
from analysis.report.findings import Findings, titled
from analysis.report.layout import NONE, Section, Table
from analysis.report.numbers import interval, p_value, ratio, share
from analysis.report.source import REFERENCE
from analysis.result import Slot

HEADLINE = "Headline"
CLAIMS = "What may be claimed"
LEADS = "Exploratory readings: leads, not claims"
DELIVERY = "memory delivery (deterministic reference agent)"


def headline_section(found: Findings) -> Section:
    """A table of rates a reader level, then claims."""
    rates = [_rates(found, reader) for reader in found.readers]
    claims = [_registered(found)] if found.registered else []
    leads = _exploratory(found)
    return Section(HEADLINE, tuple(_says(found)), (*rates, *claims, *([leads] if leads.rows else [])))


def _says(found: Findings) -> Iterator[str]:
    yield (
        "Pass@1 = pass / (pass + trapped + failed) over cells (trap x condition x seed). Matched: all histories of a "
        "trap must be right; main: the history of the published fold. Wilson takes cells as independent; the "
        "trap-cluster interval (BCa bootstrap over whole traps) does not, and has no value where it is not defined "
        f"(all traps alike, or one alone). Every seed: traps that pass every seed (pass^n, n = {_seeds(found)}), of "
        f"those with every seed counted. {NONE}: no opportunity."
    )
    if not found.registered:
        yield "Nothing was registered before the run, so nothing is claimed: all comparisons are exploratory."


def caveats(found: Findings) -> Iterator[str]:
    """What has to be known before anything else is read."""
    if found.data.agent == REFERENCE:
        yield f"These numbers are {DELIVERY}: what a memory delivered, not what a model can do."
    else:
        yield f"These are results of the agent {found.data.agent}."
    if not found.complete:
        owed = sum(tally.not_run for tally in found.tallies.values())
        yield f"The run is not complete ({owed} outcomes of arms are missing): nothing here is final."


def _seeds(found: Findings) -> int:
    return len({row.seed for row in found.rows})


def _rates(found: Findings, reader: str) -> Table:
    rows = []
    for name in found.conditions:
        for endpoint in found.endpoints:
            rates = found.rates(reader, endpoint, name)
            if rates is None:
                rows.append((found.label(name), endpoint, *(NONE,) * 5))
                continue
            intervals = (interval(rates.wilson), interval(rates.clustered))
            cells = (share(rates.rate.value), *intervals, ratio(rates.rate), ratio(rates.all_seeds))
            rows.append((found.label(name), endpoint, *cells))
    header = ("condition", "endpoint", "Pass@1", "Wilson 95 %", "trap-cluster 95 %", "pass/counted", "every seed")
    return Table(titled("Pass@1", reader), header, tuple(rows))


def _registered(found: Findings) -> Table:
    """One row a registered contrast, the primary one first; instruments support no claim and are left out."""
    primary, other = found.endpoints
    rows = []
    for slot in found.slots(found.readers[0], primary):
        if {slot.first, slot.second} & found.instruments:
            continue
        at = {endpoint: _by_reader(found, slot.id, endpoint) for endpoint in found.endpoints}
        claims = {e: claim({reader: s.verdict for reader, s in slots.items()}) for e, slots in at.items()}
        holm = [p_value(at[primary][reader].holm) for reader in found.readers]
        rows.append((f"{slot.id}: {slot.first} - {slot.second}", claims[primary], *holm, claims[other]))
    header = ("registered contrast", f"{primary} (registered endpoint)",
              *(titled("Holm p", reader) for reader in found.readers), f"{other} (not registered)")  # fmt: skip
    return Table(CLAIMS, header, tuple(rows), tuple(_limits(found)))


def _by_reader(found: Findings, slot: str, endpoint: Endpoint) -> dict[str, Slot]:
    return {reader: next(s for s in found.readings[reader, endpoint].slots if s.id == slot) for reader in found.readers}


def _limits(found: Findings) -> Iterator[str]:
    """What the gates and falsifiers take away, in words."""
    yield (
        'Worded by the validity gates. "Not separated" does not say that two conditions are alike; a difference is '
        "claimed only where every reader level shows it; what the credulous reader alone shows is state exposure."
    )
    at_primary = {reader: found.readings[reader, found.primary] for reader in found.readers}
    fallen: dict[str, list[str]] = {}
    for reader, reading in at_primary.items():
        for falsifier in reading.falsifiers:
            if falsifier.status != "holds":
                said = f"{falsifier.status}, {reader} reader" if reader else falsifier.status
                fallen.setdefault(f"{falsifier.id}: {falsifier.claim}", []).append(said)
    for name, how in fallen.items():
        yield f"Withdrawn by a falsifier: {name} ({'; '.join(how)})."
    yield from _cautions(found)


def _cautions(found: Findings) -> Iterator[str]:
    """Warm-up, difficulty and constructs, for every reader level at the primary endpoint."""
    for reader in found.readers:
        reading = found.readings[reader, found.primary]
        for gate in reading.gates:
            if gate.note:
                yield f"{titled(gate.name, reader)} {_status(gate.status)}: {gate.note}."
        idle = [stratum.construct for stratum in reading.strata if not stratum.counts]
        if idle:
            yield f"{titled('Constructs that support no claim by themselves', reader)}: {', '.join(idle)}."


def _status(status: str) -> str:
    return "was not measured" if status == "not measured" else status


def _exploratory(found: Findings) -> Table:
    """What nothing registered, each by its own p."""
    names = _explored(found)
    rows = []
    for name, (first, second) in names.items():
        if not {first, second} & found.instruments:
            rows.append((name, *(_lead(found, name, endpoint) for endpoint in found.endpoints)))
    notes = (f"By the unadjusted p of each comparison at {found.family.alpha:g}; nothing is claimed from it.",)
    limits = () if found.registered else tuple(_cautions(found))
    return Table(LEADS, ("comparison", *found.endpoints), tuple(rows), (*notes, *limits))


def _explored(found: Findings) -> dict[str, tuple[str, str]]:
    slots: Sequence[Slot] = [slot for reading in found.readings.values() for slot in reading.exploratory]
    return {slot.id: (slot.first, slot.second) for slot in slots}


def _lead(found: Findings, name: str, endpoint: Endpoint) -> str:
    verdicts = {}
    for reader in found.readers:
        reading = found.readings[reader, endpoint]
        slot = next((slot for slot in reading.exploratory if slot.id == name), None)
        if slot is not None:
            verdicts[reader] = unregistered(slot, reading.gates[0], found.family.alpha)
    return claim(verdicts)
