"""Two runs as a document: what differs, contrasts over equal draws, drift of the controls, cells that changed.

Invariant: every contrast is called exploratory, A is always the first side, and what is not listed is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from analysis.compare import BAND, CellChange, Comparison, Contrast, Drift, Key, Paired
from analysis.records import Endpoint
from analysis.report import claims
from analysis.report.figures import Forest, ForestRow
from analysis.report.layout import NONE, Document, Section, Table
from analysis.report.numbers import interval, p_value, ratio, share, signed

MOST = 50  # rows of a list; the rest is counted

_COUNTS = ("D", "b", "c", "k", "zero traps", "paired", "excluded", "difference", "95 %")
_DRIFT = ("difference", "95 %", "changed", "paired", "p", "reading")


@dataclass(frozen=True)
class RunTold:
    """What is said of one run. `owed` endings are invalid or were not run, of `planned` (arms x reader levels)."""

    name: str
    told: tuple[tuple[str, str], ...]
    planned: int
    owed: int


@dataclass(frozen=True)
class Setting:
    """What was compared with what. `factors`: as named; `differing`: key and both values of what the plans differ in.

    `equal` traps and seeds were drawn alike; `unequal` are in both plans and were not; `only_first` and `only_second`
    are in one plan. `notes` are plain sentences of whoever read the runs.
    """

    first: RunTold
    second: RunTold
    factors: tuple[str, ...]
    differing: tuple[tuple[str, str], ...]
    equal: int
    unequal: tuple[Key, ...] = ()
    only_first: tuple[Key, ...] = ()
    only_second: tuple[Key, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def repeat(self) -> bool:
        """The plans are equal and nothing was named."""
        return not self.factors


def document(setting: Setting, found: Comparison) -> Document:
    """The whole comparison."""
    sections = [_setting(setting)]
    if found.contrasts:
        places = [(endpoint, reader) for endpoint in found.endpoints for reader in found.readers]
        sections += [_contrasts(found.contrasts, *place) for place in places]
        sections.append(_claims(found))
    sections += [_drifts(setting, found.drifts), _changes(found.changes)]
    return Document("Comparison of two runs", _preamble(setting, found), tuple(sections))


def _preamble(setting: Setting, found: Comparison) -> tuple[str, ...]:
    a, b = setting.first, setting.second
    lines = [f"A is the run {a.name}, B the run {b.name}. A positive difference says that A passed more."]
    if setting.repeat:
        lines.append("The plans are equal and no factor was named: a repeat, so there is drift and no contrast.")
    elif len(setting.factors) == 1:
        lines.append(f"Factor: {setting.factors[0]}.")
    else:
        lines.append(
            f"Factors: {', '.join(setting.factors)}. More than one thing differs, so their effects cannot be "
            "told apart: no contrast below can be laid to one of them."
        )
    if found.contrasts:
        lines.append(
            "Nothing here was registered before the runs, so everything is exploratory. "
            '"Not separated" does not say that two runs are alike.'
        )
    elif not setting.repeat:
        lines.append("No condition but the controls is in both runs: name what to compare with --pair FIRST:SECOND.")
    for name, run in (("A", a), ("B", b)):
        if run.owed:
            lines.append(
                f"{name} is incomplete: {run.owed} of {run.planned} endings are invalid or were not run; "
                "their cells are not paired and are counted as excluded."
            )
    return (*lines, *setting.notes)


def _setting(setting: Setting) -> Section:
    names = list(dict.fromkeys(name for run in (setting.first, setting.second) for name, _ in run.told))
    sides = [dict(run.told) for run in (setting.first, setting.second)]
    runs = Table("The runs", ("", "A", "B"), tuple((n, *(side.get(n, NONE) for side in sides)) for n in names))
    tables = [runs]
    if setting.differing:
        tables.append(Table("What the plans differ in", ("key", "A -> B"), setting.differing))
    counts = (
        ("paired: equal draws", setting.equal),
        ("not paired: different draws", len(setting.unequal)),
        ("not paired: only A has them", len(setting.only_first)),
        ("not paired: only B has them", len(setting.only_second)),
    )
    notes = ("A draw is equal when the commitments to every fact and note number of the trap and seed are.",)
    tables.append(Table("Traps x seeds", ("", "number"), tuple((name, str(n)) for name, n in counts), notes))
    lists = {
        "different draws": setting.unequal,
        "only A has them": setting.only_first,
        "only B has them": setting.only_second,
    }
    if rows := [(why, *row) for why, keys in lists.items() for row in _by_trap(keys)]:
        left = (f"{len(rows) - MOST} more traps are not listed.",) if len(rows) > MOST else ()
        tables.append(Table("Not paired", ("why", "trap", "seeds"), tuple(rows[:MOST]), left))
    return Section("What was compared", tables=tuple(tables))


def _by_trap(keys: Sequence[Key]) -> list[tuple[str, str]]:
    found: dict[str, list[int]] = {}
    for trap, seed in keys:
        found.setdefault(trap, []).append(seed)
    return [(trap, ", ".join(map(str, sorted(seeds)))) for trap, seeds in sorted(found.items())]


def _contrasts(all_: Sequence[Contrast], endpoint: Endpoint, reader: str) -> Section:
    rows = [c for c in all_ if (c.found.endpoint, c.found.reader) == (endpoint, reader)]
    where = f"{endpoint}{f', reader {reader}' if reader else ''}"
    forest = Forest(
        f"A less B, {where}",
        f"The share of paired cells by which A leads B for each condition ({where}), exploratory.",
        "A - B",
        "B passes more",
        "A passes more",
        tuple(_forest_row(c) for c in rows),
    )
    body = tuple(
        (c.found.pair.label, *_sides(c.found), *_test(c.found), p_value(_p(c)), p_value(c.holm), _verdict(c))
        for c in rows
    )
    notes = (
        "Exact trap-clustered sign test, two-sided, over cells of equal draw. b: cells that only A passed, c: only B, "
        "D = b - c, k: traps with a difference; below k = 6 nothing can separate. Excluded: cells that do not count on "
        f"both sides. Holm over the conditions compared here ({len(rows)}). Difference: D / paired, trap-cluster BCa "
        "interval.",
    )
    header = ("condition", "A passed", "B passed", *_COUNTS, "p", "Holm p", "A is")
    return Section(
        f"Contrasts: {where}", tables=(Table("Tests (exploratory)", header, body, notes),), figures=(forest,)
    )


def _p(contrast: Contrast) -> Fraction | None:
    return contrast.found.test.p if contrast.found.test else None


def _verdict(contrast: Contrast) -> str:
    return contrast.verdict + (" (not after Holm)" if contrast.adjusted != contrast.verdict else "")


def _forest_row(contrast: Contrast) -> ForestRow:
    found = contrast.found
    low, high = (found.difference.low, found.difference.high) if found.difference else (None, None)
    note = f"p {p_value(_p(contrast))}, Holm {p_value(contrast.holm)}: {_verdict(contrast)}"
    return ForestRow(found.pair.label, "exploratory", _difference(found), low, high, note)


def _difference(found: Paired) -> float | None:
    return found.test.D / found.test.paired if found.test and found.test.paired else None


def _sides(found: Paired) -> tuple[str, str]:
    return ratio(found.first), ratio(found.second)


def _test(found: Paired) -> tuple[str, ...]:
    test, value = found.test, _difference(found)
    if test is None or value is None:
        return (*(NONE,) * 6, NONE if test is None else str(test.excluded), NONE, NONE)
    counts = (test.b, test.c, test.k, test.zero_traps, test.paired, test.excluded)
    return (signed(test.D), *map(str, counts), f"{value:+.3f}", interval(found.difference))


def _claims(found: Comparison) -> Section:
    by_pair: dict[str, dict[Endpoint, str]] = {}
    for claim in found.claims:
        by_pair.setdefault(claim.pair.label, {})[claim.endpoint] = claim.words
    rows = tuple((name, *(words.get(e, NONE) for e in found.endpoints)) for name, words in by_pair.items())
    notes = (
        '"better" and "worse" are said of A, after Holm, and of exploratory contrasts. Headroom: B0 passes at most '
        f"{share(claims.HEADROOM)} of its cells, in every run that has it, at every reader level.",
    )
    table = Table("A against B", ("condition", *found.endpoints), rows, notes)
    return Section("In words (exploratory)", tables=(table,))


def _drifts(setting: Setting, drifts: Sequence[Drift]) -> Section:
    movable = list(dict.fromkeys(d.found.pair.label for d in drifts if d.movable))
    paragraphs = ["A diagnostic, not a test of the factor: did anything else move between the runs?"]
    if not drifts:
        paragraphs.append("No control is in both runs, so nothing can be said of drift.")
    if movable and not setting.repeat:
        paragraphs.append(
            f"The factor ({', '.join(setting.factors)}) can itself move {', '.join(movable)}: what they "
            "show is then not drift alone, and they cannot vouch for the rest."
        )
    rows = tuple(
        (d.found.pair.label, d.found.endpoint, d.found.reader or NONE, *_sides(d.found), *_drift(d)) for d in drifts
    )
    notes = (
        f"Band: the rates differ by at most {share(BAND)}, and the exact clustered test does not separate the runs. "
        "Changed: paired cells with another outcome in B. Cells of an agent that is not deterministic change without "
        "a cause, too.",
    )
    header = ("control", "endpoint", "reader", "A passed", "B passed", *_DRIFT)
    tables = (Table("Drift of the concurrent controls", header, rows, notes),) if rows else ()
    return Section("Drift", tuple(paragraphs), tables)


def _drift(drift: Drift) -> tuple[str, ...]:
    test, value = drift.found.test, _difference(drift.found)
    if test is None or value is None:
        return (*(NONE,) * 5, drift.reading)
    around = interval(drift.found.difference)
    return (f"{value:+.3f}", around, str(drift.changed), str(test.paired), p_value(test.p), drift.reading)


def _changes(changes: Sequence[CellChange]) -> Section:
    lost = sum(1 for change in changes if change.first == "pass")
    says = f"{lost} cells passed in A and not in B, {len(changes) - lost} in B and not in A."
    if not changes:
        return Section("Cells that changed", (says,))
    rows = tuple(
        (
            c.pair.label,
            c.trap,
            str(c.seed),
            c.reader or NONE,
            " and ".join(c.endpoints),
            c.first,
            c.second,
            c.first_cause or NONE,
            c.second_cause or NONE,
        )
        for c in changes[:MOST]
    )
    left = (f"{len(changes) - MOST} more changed and are not listed.",) if len(changes) > MOST else ()
    header = ("condition", "trap", "seed", "reader", "endpoint", "A", "B", "cause in A", "cause in B")
    return Section("Cells that changed", (says, *_by_pair(changes)), (Table("Changed cells", header, rows, left),))


def _by_pair(changes: Sequence[CellChange]) -> tuple[str, ...]:
    counts: dict[str, list[int]] = {}
    for change in changes:
        counts.setdefault(change.pair.label, [0, 0])[change.first != "pass"] += 1
    return ("; ".join(f"{name}: {lost} lost, {won} gained in B" for name, (lost, won) in counts.items()) + ".",)
