"""Everything that the sections of a report share, computed once: rows in order, cells, inference, hygiene counts.

Invariant: a section reads its numbers from here, so no number is computed twice in different ways; registered and
exploratory contrasts are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from analysis.family import Family
from analysis.hygiene import Value
from analysis.inference import Extras, infer
from analysis.outcomes import Outcomes, TrapInfo
from analysis.rates import Rate, Tally, cells, tally
from analysis.records import ENDPOINTS, ArmRow, CellRecord, Endpoint, RecordError, check_arms
from analysis.report.memory import Measured, measured
from analysis.report.source import RunData
from analysis.result import ConditionRates, Reading, Slot
from analysis.warmups import sessions


@dataclass(frozen=True)
class Findings:
    """One run, reckoned. `conditions`: the baseline first, then by rows and plan; `endpoints`: the primary first.

    `readings` are by (reader, endpoint); `cells` by endpoint, over all reader levels.
    """

    data: RunData
    rows: tuple[ArmRow, ...]
    readers: tuple[str, ...]
    conditions: tuple[str, ...]
    endpoints: tuple[Endpoint, ...]
    instruments: frozenset[str]
    traps: Mapping[str, TrapInfo]
    family: Family
    cells: Mapping[Endpoint, tuple[CellRecord, ...]]
    tallies: Mapping[tuple[str, str], Tally]  # by (reader, condition)
    readings: Mapping[tuple[str, Endpoint], Reading]
    measured: tuple[Measured, ...]

    @property
    def registered(self) -> bool:
        return self.data.family is not None

    @property
    def primary(self) -> Endpoint:
        return self.endpoints[0]

    @property
    def complete(self) -> bool:
        """Has every planned arm a record?"""
        return not any(found.not_run for found in self.tallies.values())

    @property
    def memories(self) -> tuple[str, ...]:
        """The conditions that are no instruments."""
        return tuple(name for name in self.conditions if name not in self.instruments)

    def label(self, condition: str) -> str:
        """The condition's code, marked if it is an instrument."""
        return f"{condition} (instrument)" if condition in self.instruments else condition

    def slots(self, reader: str, endpoint: Endpoint) -> list[Slot]:
        """Registered slots, the primary one first."""
        return sorted(self.readings[reader, endpoint].slots, key=lambda slot: not slot.primary)

    def rates(self, reader: str, endpoint: Endpoint, condition: str) -> ConditionRates | None:
        """None where the condition has no cell."""
        return self.readings[reader, endpoint].rates.get(condition)

    def rate(self, reader: str, endpoint: Endpoint, condition: str) -> Rate:
        """Pass@1; 0 of 0 where the condition has no cell."""
        found = self.rates(reader, endpoint, condition)
        return found.rate if found else Rate(0, 0)


def where(reader: str, endpoint: str = "") -> str:
    """ "careful reader, matched" for the title of a table; "" where there is nothing to tell apart."""
    return ", ".join(part for part in (f"{reader} reader" if reader else "", endpoint) if part)


def titled(title: str, reader: str, endpoint: str = "") -> str:
    """The title with the reader level and endpoint in brackets."""
    place = where(reader, endpoint)
    if not place:
        return title
    return f"{title[:-1]}; {place})" if title.endswith(")") else f"{title} ({place})"


def find(data: RunData) -> Findings:
    """Compute. Raises RecordError: rows that are bad, doubled, or more than planned; FamilyError: a family that does
    not fit the rows."""
    family = data.family or Family.unregistered("matched")
    given = check_arms(data.arms)
    conditions = _conditions(given, data.planned, family.gates.baseline)
    place = {name: number for number, name in enumerate(conditions)}
    rows = tuple(sorted(given, key=lambda row: place[row.condition]))
    readers = tuple(dict.fromkeys(row.reader for row in rows)) or ("",)
    tallies = _tallies(rows, readers, conditions, data.planned)
    traps = {row.trap: TrapInfo(construct=row.construct) for row in rows} | dict(data.traps)
    outcomes = Outcomes({endpoint: cells(rows, endpoint) for endpoint in ENDPOINTS}, traps, data.carried)
    panel = measured(data.hygiene)
    if any(found.not_run for found in tallies.values()):
        # what a family registers about the size of a run is for a run that is complete
        readings = _readings(data, family.model_copy(update={"traps": None, "seeds": ()}), outcomes, readers, panel)
    else:
        readings = _readings(data, family, outcomes, readers, panel)
    return Findings(
        data=data,
        rows=rows,
        readers=readers,
        conditions=conditions,
        endpoints=tuple(sorted(ENDPOINTS, key=lambda endpoint: endpoint != family.endpoint)),
        instruments=_instruments(data),
        traps=traps,
        family=family,
        cells=outcomes.cells,
        tallies=tallies,
        readings=readings,
        measured=panel,
    )


def _instruments(data: RunData) -> frozenset[str]:
    return frozenset(card.code for card in data.cards if card.instrument)


def _tallies(
    rows: Sequence[ArmRow], readers: Sequence[str], conditions: Sequence[str], planned: Mapping[str, int]
) -> dict[tuple[str, str], Tally]:
    found: dict[tuple[str, str], list[ArmRow]] = {(reader, name): [] for reader in readers for name in conditions}
    for row in rows:
        found[row.reader, row.condition].append(row)
    return {key: tally(mine, planned[key[1]]) for key, mine in found.items()}


def _conditions(rows: Sequence[ArmRow], planned: Mapping[str, int], baseline: str) -> tuple[str, ...]:
    found = dict.fromkeys(row.condition for row in rows)
    if unknown := [name for name in found if name not in planned]:
        raise RecordError(None, f"conditions outside the plan: {', '.join(unknown)}")
    return tuple(sorted(dict.fromkeys([*planned, *found]), key=lambda name: name != baseline))


def _readings(
    data: RunData, family: Family, outcomes: Outcomes, readers: Sequence[str], panel: Sequence[Measured]
) -> dict[tuple[str, Endpoint], Reading]:
    """Reader levels one by one, since what hygiene measured differs between them."""
    found: dict[tuple[str, Endpoint], Reading] = {}
    baseline = family.gates.baseline
    for reader in readers:
        mine = {endpoint: tuple(c for c in told if c.reader == reader) for endpoint, told in outcomes.cells.items()}
        extras = Extras(
            metrics={metric.name: _at(values, reader) for metric, values in panel},
            warmup=sessions([w for w in data.warm_ups if (w.condition, w.reader) == (baseline, reader)]),
            poisoned=data.poisoned,
            instruments=_instruments(data),
        )
        for reading in infer(replace(outcomes, cells=mine), family, extras).readings:
            found[reader, reading.endpoint] = reading
    return found


def _at(values: Mapping[tuple[str, str], Value], reader: str) -> dict[str, Fraction | None]:
    """Values by condition at a reader level, with those that no level can change."""
    return {
        condition: Fraction(value.numerator, value.denominator) if value.denominator else None
        for (condition, level), value in values.items()
        if level in ("", reader)
    }
