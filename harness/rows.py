"""From the ledger's records to the plain rows of the analysis.

Invariant: a row says what its record says; nothing is counted, corrected or left out here but instruments, which are no
memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from analysis.funnel import FactRow, Fate
from analysis.hygiene import HygieneRow, Repair
from analysis.inert import Part
from analysis.records import COUNTED, ArmRow
from harness.description import Description
from harness.outcome import Outcome
from harness.records import ArmRecord, Ending, FactTrace
from memory_probe.family import members


def rows(records: Iterable[ArmRecord], clean: Callable[[str], str] = str) -> list[ArmRow]:
    """One row an arm and reader level; `clean` is put on every cause."""
    return [
        ArmRow(
            trap=r.trap,
            construct=r.construct_,
            condition=r.condition,
            seed=r.seed,
            history=r.history,
            main=r.main,
            reader=reader_of(e),
            outcome=e.outcome.value,
            cause=clean(e.cause),
        )
        for r in records
        for e in r.endings
    ]


@dataclass(frozen=True)
class MemoryRows:
    """What the sections on memories are made of; instruments are left out."""

    facts: tuple[FactRow, ...]
    hygiene: tuple[HygieneRow, ...]
    parts: tuple[Part, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON takes it: one object a row."""
        facts = [{**asdict(row.fate), **{k: v for k, v in vars(row).items() if k != "fate"}} for row in self.facts]
        hygiene = [{k: v for k, v in asdict(row).items() if k != "fates"} for row in self.hygiene]
        return {"facts": facts, "hygiene": hygiene, "parts": [asdict(part) for part in self.parts]}


def memory_rows(stored: Description, records: Sequence[ArmRecord]) -> MemoryRows:
    """Rows about memories, from the arms whose outcome counts."""
    cards = stored.meaning.get("conditions", {})
    own = [r for r in records if not cards.get(r.condition, {}).get("instrument")]
    planned = list(stored.arms_by_condition)
    own.sort(key=lambda r: planned.index(r.condition) if r.condition in planned else len(planned))
    counted = [(r, e) for r in own for e in r.endings if e.outcome.value in COUNTED]
    facts = [
        FactRow(r.trap, r.construct_, r.condition, reader_of(e), _fate(trace)) for r, e in counted for trace in e.funnel
    ]
    hygiene = [_hygiene(r, e) for r, e in counted]
    return MemoryRows(tuple(facts), tuple(hygiene), tuple(_parts(cards, [r for r in own if r.store])))


def reader_of(ending: Ending) -> str:
    """The reader level; "" for agents that have none."""
    return "" if ending.reader == "-" else ending.reader


def _fate(trace: FactTrace) -> Fate:
    return Fate(trace.name, trace.role, trace.stage, trace.lost, trace.corrupted, trace.kind)


def _hygiene(record: ArmRecord, ending: Ending) -> HygieneRow:
    forbids = [check.held for check in ending.checks if check.kind == "forbids" and not check.choked]
    return HygieneRow(
        trap=record.trap,
        construct=record.construct_,
        condition=record.condition,
        seed=record.seed,
        history=record.history,
        reader=reader_of(ending),
        outcome=ending.outcome.value,
        cause=ending.cause,
        expect=record.expect,
        shown=record.shown,
        types=record.shown_types,
        fates=tuple(_fate(trace) for trace in ending.funnel),
        used=ending.used,
        carried_by_tree=record.carried_by_tree,
        repairs=tuple(Repair(c.old_inactive, c.new_active, c.linked) for c in record.contradictions),
        warm_up=record.warm_up,
        check=ending.check,
        seen_forbidden=any(forbids) if forbids else None,
    )


def _parts(cards: Mapping[str, Any], records: Sequence[ArmRecord]) -> list[Part]:
    """Operators name themselves in every sleep; gates only when they reject, so the probe's family lists those."""
    slept: dict[str, Counter[str]] = {}
    refused: dict[str, Counter[str]] = {}
    for record in records:
        changes = slept.setdefault(record.condition, Counter())
        for operator, number in record.sleep.items():
            changes[operator] += number
        if record.refused is not None:
            refused.setdefault(record.condition, Counter()).update(record.refused)
    found = []
    for condition, changes in slept.items():
        found += [Part(condition, "operator", name, number) for name, number in changes.items()]
        gates = _gates(condition, str(cards.get(condition, {}).get("version"))) if condition in refused else ()
        found += [Part(condition, "gate", name, refused[condition][name]) for name in gates]
    return found


def _gates(condition: str, version: str) -> tuple[str, ...]:
    """The gates of a member of the probe's family, unless the run had another version of it."""
    member = members().get(condition)
    if member is None or not version.endswith(f"+{member.variant.digest()[:16]}"):
        return ()
    return member.variant.policy.gates


def outcome_counts(records: Sequence[ArmRecord], arms: int, readers: int) -> dict[str, int]:
    """Endings by outcome, and `owed`; they sum to `planned` = arms x reader levels."""
    counts = {o.value: 0 for o in Outcome}
    for record in records:
        for ending in record.endings:
            counts[ending.outcome.value] += 1
    return {"planned": arms * readers, **counts, "owed": arms * readers - sum(counts.values())}
