"""The report's sections on what memories did: the fact funnel, hygiene metrics, and parts that were inert.

Invariant: tables print what `analysis.funnel` and `analysis.hygiene` counted; facts that govern and facts that must
not be used stand in tables of their own; a place without an opportunity shows "-".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.funnel import FactRow, Funnel, funnels_by
from analysis.gates import construct_order
from analysis.hygiene import (
    DRAWS,
    METRICS,
    HygieneRow,
    Metric,
    Value,
    deliveries,
    measure,
    once_an_arm,
)
from analysis.inert import Part, inert
from analysis.report.figures import Bars
from analysis.report.layout import NONE, Section, Table
from analysis.report.numbers import interval, share

ALL = "all"
INERT = "Operators and gates that were inert"
GOVERN, AVOID = "facts that govern", "facts that must not be used"
_ENDS = ("not written", "gone after sleep", "not admitted", "admitted only", "used")  # after each stage but the last
_PARTS = ("corrupted", "unknown")
_CAUSES_SHOWN = 6  # a condition and kind of fact
Measured = tuple[Metric, dict[tuple[str, str], Value]]  # by (condition, reader)


def funnel_section(facts: Sequence[FactRow]) -> Section:
    """How far facts came at every reader level: where they ended, by construct, and why."""
    figures, tables = [], []
    for reader in dict.fromkeys(row.reader for row in facts):
        mine = [row for row in facts if row.reader == reader]
        for title, governing in ((GOVERN, True), (AVOID, False)):
            whole = {name: found for (_, name), found in funnels_by(mine, lambda row: "", governing=governing).items()}
            figures.append(_bars(_titled(f"where {title} ended", reader), whole))
            by_construct = funnels_by(mine, lambda row: row.construct, governing=governing)
            tables.append(_counts(_titled(f"{title}, by construct", reader), whole, by_construct))
        tables.append(_causes(mine, reader))
    return Section("Fact funnel", (_FUNNEL_SAYS,) if facts else (_NO_FACTS,), tuple(tables), tuple(figures))


_NO_FACTS = "No fate of a fact was recorded in this run."
_FUNNEL_SAYS = (
    "injected -> written -> alive after sleep -> admitted into the S3 view -> used in the S3 change. Each fact is "
    "counted where it ended, so the columns from 'not written' to 'used' sum to 'injected'. Corrupted (only a changed "
    "form was found) and unknown (the store cannot be listed; not a loss) are parts of these, not further ends. For a "
    "fact that must not be used, not to be admitted is the right end."
)


def _bars(title: str, whole: Mapping[str, Funnel]) -> Bars:
    rows = tuple((condition, tuple(found.ends.values())) for condition, found in whole.items())
    return Bars(title, "Facts over all arms whose outcome counts, by the stage at which each ended.", "condition",
                _ENDS, rows)  # fmt: skip


def _counts(title: str, whole: Mapping[str, Funnel], by_construct: Mapping[tuple[str, str], Funnel]) -> Table:
    """All constructs together first; the ends sum to what was injected."""
    ordered = sorted(by_construct.items(), key=lambda item: construct_order(item[0][0]))
    lines = [(ALL, condition, found) for condition, found in whole.items()]
    lines += [(construct, condition, found) for (construct, condition), found in ordered]
    rows = tuple(
        (construct, condition, *(str(n) for n in (f.injected, *f.ends.values(), f.corrupted, f.unknown)))
        for construct, condition, f in lines
    )
    return Table(title, ("construct", "condition", "injected", *_ENDS, *_PARTS), rows)


def _titled(title: str, reader: str) -> str:
    return title[0].upper() + title[1:] + (f" ({reader} reader)" if reader else "")


def _causes(facts: Sequence[FactRow], reader: str) -> Table:
    lines: list[tuple[str, ...]] = []
    for title, governing in ((GOVERN, True), (AVOID, False)):
        for (_, condition), funnel in funnels_by(facts, lambda row: "", governing=governing).items():
            causes = list(funnel.causes.items())
            lines += [(condition, title, stage, cause, str(n)) for (stage, cause), n in causes[:_CAUSES_SHOWN]]
            if rest := sum(n for _, n in causes[_CAUSES_SHOWN:]):
                lines.append((condition, title, NONE, "other causes", str(rest)))
    header = ("condition", "facts", "last stage", "why no further", "facts ended")
    return Table(_titled("why facts went no further", reader), header, tuple(lines))


def measured(rows: Sequence[HygieneRow]) -> tuple[Measured, ...]:
    """Every metric by condition and reader level; rows are those of memories, not of instruments."""
    return tuple((metric, _measured(rows, metric)) for metric in METRICS)


def hygiene_section(rows: Sequence[HygieneRow], panel: Sequence[Measured]) -> Section:
    """One table a metric; metrics that are the same counts everywhere share one, those without opportunity a line.

    `panel` is `measured(rows)`.
    """
    shown = [m for m in panel if any(value.denominator for value in m[1].values())]
    tables = [_metric_table(group) for group in _alike(shown)]
    if (delivered := _delivered(rows)).rows:
        tables.append(delivered)
    says = [_HYGIENE_SAYS if rows else "Nothing about a memory was recorded in this run."]
    if rows and (empty := [metric.name for metric, _ in panel if metric.name not in {m.name for m, _ in shown}]):
        says.append(f"No opportunity in this run: {', '.join(empty)}.")
    return Section("Hygiene (from tracers)", tuple(says), tuple(tables))


_HYGIENE_SAYS = (
    "Counted from tracers and oracle checks, not judged. Pooled over all histories; arms without a counted outcome and "
    f"instruments are left out. Brackets: 95 % percentile bootstrap over traps ({DRAWS:,} seeded draws of whole "
    f"traps; it has no width where all traps agree). {NONE}: no opportunity, or one trap alone."
)


def _measured(rows: Sequence[HygieneRow], metric: Metric) -> dict[tuple[str, str], Value]:
    """By condition and reader level; "" for what the reader level cannot change."""
    found: dict[tuple[str, str], list[HygieneRow]] = {}
    for row in rows if metric.by_reader else once_an_arm(rows):
        found.setdefault((row.condition, row.reader if metric.by_reader else ""), []).append(row)
    return {key: measure(group, metric) for key, group in found.items()}


def _alike(measured: Sequence[Measured]) -> list[list[Measured]]:
    """Metrics with the same numerators and denominators in every condition, together."""
    groups: dict[tuple[object, ...], list[Measured]] = {}
    for metric, values in measured:
        counts = tuple((key, value.numerator, value.denominator) for key, value in values.items())
        groups.setdefault((metric.direction, *counts), []).append((metric, values))
    return list(groups.values())


def _metric_table(group: Sequence[Measured]) -> Table:
    _, values = group[0]
    readers = list(dict.fromkeys(reader for _, reader in values))
    header = ["condition"]
    for reader in readers:
        header += [reader or "value", "95 %", "count"]
    lines = []
    for condition in dict.fromkeys(condition for condition, _ in values):
        cells = [_value_cells(values.get((condition, reader))) for reader in readers]
        lines.append((condition, *(cell for three in cells for cell in three)))
    good = "more is better" if group[0][0].direction == "up" else "less is better"
    notes = tuple(f"{metric.name}: {metric.means}; {good}." for metric, _ in group)
    return Table(" = ".join(metric.name for metric, _ in group), tuple(header), tuple(lines), notes)


def _value_cells(value: Value | None) -> tuple[str, str, str]:
    if value is None or value.value is None:
        return NONE, NONE, NONE
    return share(value.value), interval(value.interval), f"{value.numerator}/{value.denominator}"


def _delivered(rows: Sequence[HygieneRow]) -> Table:
    """Arms whose view holds an item of each type; the probe's capsules are of the type episodic."""
    conditions = list(dict.fromkeys(row.condition for row in rows))
    found = {name: deliveries(row for row in rows if row.condition == name) for name in conditions}
    types = sorted({kind for delivered in found.values() for kind in delivered})
    lines = []
    for name in conditions:
        if found[name]:
            counts = [found[name].get(kind) for kind in types]
            lines.append((name, *(f"{c[0]}/{c[1]}" if c else NONE for c in counts)))
    header = ("condition", *(kind or "no type" for kind in types))
    return Table("Channel delivery: arms whose S3 view holds an item of the type", header, tuple(lines))


def inert_section(parts: Sequence[Part]) -> Section:
    """Which operators and gates never acted; what is inert cannot be what a condition is good for."""
    lines = []
    for condition in dict.fromkeys(part.condition for part in parts):
        mine = [part for part in parts if part.condition == condition]
        for kind in ("operator", "gate"):
            idle = [part.name for part in inert(mine) if part.kind == kind]
            there = sum(part.kind == kind for part in mine)
            if there:
                lines.append((condition, f"{kind}s", f"{len(idle)} of {there}", ", ".join(idle) or NONE))
    says = (
        "Operators of sleep that changed nothing, and gates of reading that rejected nothing, over every arm of the "
        "run. A candidate is counted at the first gate that rejects it, so a gate may be idle because an earlier one "
        "was there."
    )
    table = Table("Inert parts", ("condition", "parts", "inert", "which"), tuple(lines))
    return Section(INERT, (says,), (table,)) if lines else Section(INERT, (_NO_PARTS,))


_NO_PARTS = "No part of a memory was recorded in this run."
