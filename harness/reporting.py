"""From a run directory to a report: what `analysis.report` is made from, and the two files at the end of a run.

Invariant: a report is made from the run directory alone (no trap, oracle or family file is read again) and, if told,
from what was removed since; it says no path, user or name of the host; what an older run did not store is left out,
never guessed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis import glossary
from analysis.family import Family, FamilyError, family_from_data
from analysis.outcomes import TrapInfo
from analysis.records import COUNTED
from analysis.report.build import brief, build
from analysis.report.html import as_html
from analysis.report.layout import Document, as_markdown, as_text
from analysis.report.source import REFERENCE, Card, RunData, Spent, WarmUp
from harness.agents.reference import ReferenceAgent
from harness.archive import Archive, without_places
from harness.description import Description
from harness.details import arms
from harness.leftovers import lost
from harness.outcome import Boundary, Fault, Outcome, UsageFault
from harness.preregistration.plan_start import told as preregistered
from harness.records import ArmRecord, Ending
from harness.rows import memory_rows, outcome_counts, reader_of, rows
from harness.rundir import RunDir, replace_file
from harness.used import used_rows, with_models
from memory_probe.protocol import count_tokens

MARKDOWN, PAGE = "report.md", "report.html"
_DRAW = {True: "reused from another run", False: "fresh", None: ""}


@dataclass(frozen=True)
class Report:
    """A report in every form but the page, which costs more: ask for it with `page`."""

    document: Document
    page: Callable[[], str]

    @property
    def text(self) -> str:
        return as_text(self.document)

    @property
    def brief(self) -> str:
        return as_text(brief(self.document))

    @property
    def markdown(self) -> str:
        return as_markdown(self.document)


def report(folder: RunDir, records: Sequence[ArmRecord], removed: Collection[str] | None = None) -> Report:
    """The report of a run, finished or not; traps that were `removed` are in no rate but that of a slice.

    `removed` None: those that were when the run was begun. Raises UsageFault for a file of the run that cannot be read.
    """
    archive, ordered = Archive.open(folder), in_plan_order(folder.description(), records)
    document = build(run_data(folder, ordered, archive, removed))
    return Report(document, lambda: as_html(document, arms(folder, ordered, archive), glossary.load()))


def in_plan_order(stored: Description, records: Sequence[ArmRecord]) -> list[ArmRecord]:
    """Arms end in the order that workers happen to take; a report of the same outcomes is the same report."""
    traps, conditions = ({c: n for n, c in enumerate(stored.meaning.get(k, {}))} for k in ("traps", "conditions"))

    def place(record: ArmRecord) -> tuple[int, int, int, str, str]:
        order = traps.get(record.trap, len(traps)), conditions.get(record.condition, len(conditions))
        return (*order, record.seed, record.history, record.arm)

    return sorted(records, key=place)


def write(folder: RunDir, made: Report) -> None:
    """Put report.md and report.html (0600: it holds views and changes, and with them the facts) in place.

    Raises Fault with the remedy when the disk is full; every outcome is kept.
    """
    _put(folder, MARKDOWN, made.markdown, 0o644)
    _put(folder, PAGE, made.page(), 0o600)


def _put(folder: RunDir, name: str, text: str, mode: int) -> None:
    path = folder.path / name
    try:
        replace_file(path, encoded(text), mode=mode)
    except OSError as error:
        remedy = f"remedy: make room, then dreambench report {folder.path} --markdown"
        raise Fault(Boundary.LEDGER, f"{path}: {error.strerror}; every outcome is kept ({remedy})") from error


def encoded(text: str) -> bytes:
    """UTF-8; what has no place in it is escaped, so that no byte of an agent can stop a report."""
    return text.encode("utf-8", "backslashreplace")


def run_data(
    folder: RunDir, records: Sequence[ArmRecord], archive: Archive | None = None, removed: Collection[str] | None = None
) -> RunData:
    """Everything that the tables and figures are made from. Raises UsageFault for a damaged file."""
    stored = folder.description()
    archive = archive or Archive.open(folder)
    found = memory_rows(stored, records)
    traps = _traps(stored, records, removed)
    return RunData(
        title=_title(stored),
        agent=REFERENCE if stored.agent == ReferenceAgent.card else stored.agent,
        told=tuple(_told(folder, stored, records, traps)),
        cards=tuple(_card(code, card) for code, card in stored.meaning.get("conditions", {}).items()),
        family=_family(folder, stored),
        arms=tuple(rows(records, without_places(folder, stored))),
        planned=stored.arms_by_condition,
        traps=traps,
        carried=frozenset((r.trap, r.condition, r.seed) for r in records if r.carried_by_tree),
        poisoned=_poisoned(stored, records),
        warm_ups=tuple(_warm_up(r, e) for r in records for e in r.endings),
        spent=tuple(
            with_models(spent_by(archive, r, e), r, e, archive.sessions(r)) for r in records for e in r.endings
        ),
        used=used_rows(records, archive, lost(folder)),
        facts=found.facts,
        hygiene=found.hygiene,
        parts=found.parts,
    )


def _title(stored: Description) -> str:
    if stored.agent == ReferenceAgent.card:
        return "Memory delivery (deterministic reference agent)"
    return f"Results of the agent {stored.agent}"


def _family(folder: RunDir, stored: Description) -> Family | None:
    """What was registered, from run.json alone. Raises UsageFault when it is not what the plan says."""
    planned = stored.meaning.get("family")
    if planned is None:
        return None
    where = f"{folder.path / 'run.json'}: family"
    try:
        family = family_from_data(stored.family, where)
    except FamilyError as error:
        raise UsageFault(str(error)) from error
    if family.digest != planned.get("digest"):
        raise UsageFault(f"{where}: not the family that the plan registers")
    return family


def _traps(stored: Description, records: Sequence[ArmRecord], removed: Collection[str] | None) -> dict[str, TrapInfo]:
    """Every trap of the plan; an older run tells constructs only."""
    found = {r.trap: TrapInfo(construct=r.construct_) for r in records}
    found |= {trap: TrapInfo(construct=construct) for trap, construct in stored.constructs.items()}
    for trap, told in stored.traps_told.items():
        gone = told.candidate == "removed"
        found[trap] = TrapInfo(told.construct_, told.family, told.fixture, told.evidence, told.clean_start, gone)
    told_of = {trap: found.get(trap, TrapInfo()) for trap in stored.meaning.get("traps", found)} | found
    return told_of if removed is None else {t: replace(info, removed=t in removed) for t, info in told_of.items()}


def _poisoned(stored: Description, records: Sequence[ArmRecord]) -> frozenset[str]:
    """Traps with something that must not be used; in an older run those where POISON showed anything."""
    if stored.traps_told:
        return frozenset(trap for trap, told in stored.traps_told.items() if told.poisoned)
    return frozenset(r.trap for r in records if r.condition == "POISON" and r.shown)


def _card(code: str, card: Mapping[str, Any]) -> Card:
    return Card(
        code,
        str(card.get("title", "")),
        str(card.get("version", "")),
        tuple(card.get("capabilities", ())),
        bool(card.get("needs_model")),
        bool(card.get("instrument")),
    )


def _warm_up(record: ArmRecord, ending: Ending) -> WarmUp:
    s1, s2 = (*record.warm_up, None, None)[:2]
    passed = ending.outcome == Outcome.PASS if ending.outcome.value in COUNTED else None
    return WarmUp(record.trap, record.condition, record.seed, record.history, reader_of(ending), s1, s2, passed)


def spent_by(archive: Archive, record: ArmRecord, ending: Ending) -> Spent:
    """View tokens as the packer counts them; the seconds are the arm's, all reader levels together."""
    if told := archive.spent.get(record.arm):
        tokens = told.view_tokens.get(ending.reader)
        return Spent(record.condition, reader_of(ending), tokens, told.store_bytes, record.seconds)
    last = [s for s in archive.sessions(record) if s.number == 3]
    view = archive.view(next((s for s in last if s.reader == ending.reader), last[0]).view) if last else None
    known = view is not None and not view.problem
    tokens = sum(count_tokens(str(item.get("text", ""))) for item in view.items) if view and known else None
    return Spent(record.condition, reader_of(ending), tokens, _store_bytes(archive, record), record.seconds)


def _store_bytes(archive: Archive, record: ArmRecord) -> int | None:
    """Bytes of the files of the frozen store, as its manifest tells them; None where it was not frozen."""
    if not record.store:
        return None
    try:
        return sum(int(file["size"]) for file in json.loads(archive.text(record.store).text).values())
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


# -- what was run ----------------------------------------------------------------------------------------------


def _told(
    folder: RunDir, stored: Description, records: Sequence[ArmRecord], traps: Mapping[str, TrapInfo]
) -> list[tuple[str, str]]:
    config = stored.meaning.get("config", {})
    counts = outcome_counts(records, stored.arms, len(stored.readers))
    told = [
        ("agent", stored.agent),
        ("reader levels", ", ".join(reader for reader in stored.readers if reader != "-") or "none"),
        ("traps", _grouped(traps)),
        ("traps as candidates", _candidates(stored)),
        ("seeds", _seeds(config)),
        ("arms", f"{stored.arms} (trap x condition x seed x history)"),
        ("view budget", f"{config.get('budget.k', '?')} items, {config.get('budget.tokens', '?')} tokens"),
        ("haystack", _haystack(int(config.get("haystack") or 0))),
        ("session limits", _limits(config)),
        ("outcomes", ", ".join(f"{number} {name}" for name, number in counts.items())),
        ("sandbox", str(stored.config.get("sandbox", ""))),
        *_sandboxes(folder),
        ("Python of the harness", stored.python),
        ("DreamBench-SWE", stored.dreambench),
        ("begun", stored.begun),
        ("draw of the facts", _DRAW[stored.draw_reused]),
        ("draw digest", stored.draw_digest),
        ("plan digest", stored.plan_digest),
        *preregistered(folder, stored),
        ("scored again from", _parent(folder)),
    ]
    return [(label, value) for label, value in told if value]


def _parent(folder: RunDir) -> str:
    """The run whose recorded changes were scored again with other oracles to make this one; "" for any other run."""
    told = folder.read_json("run.json").get("rescored_from")
    if not isinstance(told, dict):
        return ""
    oracles = told.get("oracles")
    changed = ", ".join(oracles) if isinstance(oracles, dict) else "?"
    return f"the run with plan digest {told.get('plan_digest')} on {told.get('date')}; other oracles: {changed}"


def _grouped(traps: Mapping[str, TrapInfo]) -> str:
    by: dict[str, int] = {}
    for info in traps.values():
        by[info.construct] = by.get(info.construct, 0) + 1
    names = sorted(by, key=lambda name: (len(name), name))
    return f"{len(traps)} ({', '.join(f'{name}: {by[name]}' for name in names)})"


def _candidates(stored: Description) -> str:
    """How the traps stood to the record of candidates when the run was begun; "" without one."""
    found = Counter(told.candidate for told in stored.traps_told.values() if told.candidate)
    return ", ".join(f"{number} {state}" for state, number in sorted(found.items()))


def _seeds(config: Mapping[str, Any]) -> str:
    first, number = config.get("first_seed"), config.get("seeds")
    if not isinstance(first, int) or not isinstance(number, int):
        return ""
    return str(first) if number == 1 else f"{number} ({first} to {first + number - 1})"


def _haystack(episodes: int) -> str:
    return f"{episodes} background episodes before S1" if episodes else "none"


def _limits(config: Mapping[str, Any]) -> str:
    units = {"wall": "s", "memory_mib": "MiB of memory", "processes": "processes", "disk_mib": "MiB of disk"}
    given = [(config.get(f"limits.{key}"), unit) for key, unit in units.items()]
    return ", ".join(f"{value:g} {unit}" for value, unit in given if isinstance(value, (int, float)))


def _sandboxes(folder: RunDir) -> list[tuple[str, str]]:
    """What each sandbox said of itself; a run that was resumed elsewhere had several."""
    used = folder.sandboxes()
    numbered = len(used) > 1
    return [
        (f"sandbox {number}: {name}" if numbered else f"sandbox: {name}", str(value))
        for number, told in enumerate(used, 1)
        for name, value in told.items()
    ]
