"""Instrument checks over runs of the same traps: does the fold measure at all, before any memory is compared?

No memory must fail, poison must do harm, evidence must suffice, and in every construct two memories must differ
somewhere. Matched cells throughout. Invariant: a rule without a counted cell is "not measured", never held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from analysis.gates import construct_order
from analysis.rates import Rate, rates_by
from analysis.records import CellRecord

NOTHING, EVIDENCE, POISON = "B0", "EVIDENCE", "POISON"
CAREFUL = "careful"
MOST = Fraction(1, 2)  # what B0 and POISON may pass
Status = Literal["holds", "fails", "not measured"]


@dataclass(frozen=True)
class Setting:
    """One reader level over one amount of background, with its matched cells of every condition."""

    reader: str
    haystack: int
    cells: tuple[CellRecord, ...]

    @property
    def name(self) -> str:
        return f"{self.reader}, {self.haystack}"


@dataclass(frozen=True)
class Line:
    """One rule for one construct. `where` is the setting in which it was worst, or that which shows the difference."""

    construct: str
    rule: str
    status: Status
    value: str
    where: str


def check(settings: Sequence[Setting], poisoned: Collection[str]) -> tuple[Line, ...]:
    """Every rule for every construct that occurs; `poisoned` are traps that have something that must not be used.

    A construct without such a trap has no rule about poison.
    """
    found: list[Line] = []
    for construct in sorted({c.construct for s in settings for c in s.cells}, key=construct_order):
        here = [Setting(s.reader, s.haystack, tuple(c for c in s.cells if c.construct == construct)) for s in settings]
        bad = [Setting(s.reader, s.haystack, tuple(c for c in s.cells if c.trap in poisoned)) for s in here]
        careful = [s for s in here if s.reader == CAREFUL]
        found.append(_bounded(construct, f"{NOTHING} passes at most half", here, NOTHING))
        if any(s.cells for s in bad):
            found.append(_bounded(construct, f"{POISON} passes at most half", bad, POISON))
        found += [_whole(construct, careful), _differ(construct, here)]
    return tuple(found)


def lonely(settings: Iterable[Setting]) -> tuple[str, ...]:
    """Traps of which EVIDENCE passed a cell and no memory ever did, at any setting."""
    passed: dict[str, set[str]] = {}
    for setting in settings:
        for cell in setting.cells:
            if cell.outcome == "pass":
                passed.setdefault(cell.trap, set()).add(cell.condition)
    return tuple(sorted(trap for trap, by in passed.items() if EVIDENCE in by and not by - {NOTHING, EVIDENCE, POISON}))


def _rates(setting: Setting) -> dict[str, Rate]:
    return {name: r for name, r in rates_by(setting.cells, lambda cell: cell.condition).items() if r.counted}


def _share(found: Rate) -> Fraction:
    return Fraction(found.passed, found.counted)


def _bounded(construct: str, rule: str, settings: Sequence[Setting], condition: str) -> Line:
    seen = [(_share(found[condition]), found[condition], s.name) for s in settings if condition in (found := _rates(s))]
    if not seen:
        return Line(construct, rule, "not measured", "-", "-")
    share, worst, where = max(seen, key=lambda row: row[0])
    return Line(construct, rule, "holds" if share <= MOST else "fails", f"{worst.passed}/{worst.counted}", where)


def _whole(construct: str, settings: Sequence[Setting]) -> Line:
    rule = f"{EVIDENCE} passes everything ({CAREFUL})"
    seen = [(_share(found[EVIDENCE]), found[EVIDENCE], s.name) for s in settings if EVIDENCE in (found := _rates(s))]
    if not seen:
        return Line(construct, rule, "not measured", "-", "-")
    share, worst, where = min(seen, key=lambda row: row[0])
    return Line(construct, rule, "holds" if share == 1 else "fails", f"{worst.passed}/{worst.counted}", where)


def _differ(construct: str, settings: Sequence[Setting]) -> Line:
    """The widest difference between two memories, with both named."""
    rule, best = "two memories differ", (Fraction(0), "-", "-")
    measured = False
    for setting in settings:
        found = {n: r for n, r in _rates(setting).items() if n not in (NOTHING, EVIDENCE, POISON)}
        if len(found) < 2:
            continue
        measured = True
        low, high = (pick(found, key=lambda n: (_share(found[n]), n)) for pick in (min, max))
        gap = _share(found[high]) - _share(found[low])
        if gap > best[0]:
            said = ", ".join(f"{n} {found[n].passed}/{found[n].counted}" for n in (high, low))
            best = (gap, said, setting.name)
    if not measured:
        return Line(construct, rule, "not measured", "-", "-")
    return Line(construct, rule, "holds" if best[0] else "fails", best[1], best[2])


def owed(lonely_traps: Iterable[str], reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Of the traps that no memory ever passed, those whose file gives no reason."""
    return tuple(trap for trap in lonely_traps if not reasons.get(trap))
