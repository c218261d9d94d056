"""The report on one run: from arm rows to a document, by pure functions.

Invariant: every number is printed for both endpoints, every arm is in the outcome counts, and a place without an
opportunity shows "-".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.clustered import ClusteredTest, compare
from analysis.rates import Rate, causes, cells, rate, rates_by, tally
from analysis.records import ENDPOINTS, OUTCOMES, ArmRow, CellRecord, Endpoint, RecordError, check_arms
from analysis.report import claims
from analysis.report.layout import NONE, Document, Section, Table, as_markdown, as_text

BASELINE = "B0"
REFERENCE = "reference"
DELIVERY = "memory delivery (deterministic reference agent)"

Cells = Mapping[Endpoint, Mapping[str, Sequence[CellRecord]]]  # by endpoint, by condition


def build(
    arms: Sequence[ArmRow],
    *,
    planned: Mapping[str, int] | None = None,
    agent: str = REFERENCE,
    baseline: str = BASELINE,
    memory: Sequence[Section] = (),
) -> Document:
    """The document for the arms of one run.

    `planned` says how many arms each condition has in the plan (per reader level); without it the rows are the
    plan. `agent` names who did the work; `memory` are sections on what memories did. Raises RecordError: bad or
    doubled rows, more rows than planned.
    """
    rows = check_arms(arms)
    readers = list(dict.fromkeys(row.reader for row in rows))
    conditions = _conditions(rows, planned, baseline)
    by_reader = {r: [row for row in rows if row.reader == r] for r in readers}
    celled = {r: _cells(by_reader[r], conditions) for r in readers}
    what = DELIVERY if agent == REFERENCE else f"results of the agent {agent}"
    sections = [_reader_section(r, by_reader[r], celled[r], conditions, planned, baseline) for r in readers]
    sections += memory
    if baseline in conditions and len(conditions) > 1 and readers:
        sections.append(_claims_section(celled, conditions, baseline))
    return Document(what[0].upper() + what[1:], _preamble(agent), tuple(sections))


def text_report(arms: Sequence[ArmRow], *, planned: Mapping[str, int] | None = None, agent: str = REFERENCE) -> str:
    """The report as plain text; arguments and errors as `build`."""
    return as_text(build(arms, planned=planned, agent=agent))


def markdown_report(arms: Sequence[ArmRow], *, planned: Mapping[str, int] | None = None, agent: str = REFERENCE) -> str:
    """The report as Markdown; arguments and errors as `build`."""
    return as_markdown(build(arms, planned=planned, agent=agent))


def _preamble(agent: str) -> tuple[str, ...]:
    lines = [
        "Pass@1 = pass / (pass + trapped + failed) over cells (trap x condition x seed). Matched: all histories of a "
        "trap must be right; main: the history of the published fold. Brackets: Wilson 95 % intervals that take "
        f"cells as independent. {NONE}: no opportunity.",
    ]
    if agent == REFERENCE:
        lines.append(f"These numbers are {DELIVERY}: what a memory delivered, not what a model can do.")
    return tuple(lines)


def _conditions(rows: Sequence[ArmRow], planned: Mapping[str, int] | None, baseline: str) -> list[str]:
    """The baseline first, then in order of the rows, then those that only the plan knows."""
    found = dict.fromkeys(row.condition for row in rows)
    if planned is not None:
        if unknown := [name for name in found if name not in planned]:
            raise RecordError(None, f"conditions outside the plan: {', '.join(unknown)}")
        found |= dict.fromkeys(planned)
    return sorted(found, key=lambda name: name != baseline)


def _cells(rows: Sequence[ArmRow], conditions: Sequence[str]) -> Cells:
    result: dict[Endpoint, dict[str, list[CellRecord]]] = {}
    for endpoint in ENDPOINTS:
        result[endpoint] = {name: [] for name in conditions}
        for cell in cells(rows, endpoint):
            result[endpoint][cell.condition].append(cell)
    return result


def _reader_section(
    reader: str,
    rows: Sequence[ArmRow],
    celled: Cells,
    conditions: Sequence[str],
    planned: Mapping[str, int] | None,
    baseline: str,
) -> Section:
    tables = [_headline(celled, conditions)]
    if baseline in conditions and len(conditions) > 1:
        tables.append(_contrasts(celled, conditions, baseline))
    tables += [_by_construct(celled, endpoint, conditions) for endpoint in ENDPOINTS]
    tables += [_counts(rows, conditions, planned), _causes(rows, conditions)]
    return Section(f"Reader level: {reader}" if reader else "Results", tables=tuple(tables))


def _headline(celled: Cells, conditions: Sequence[str]) -> Table:
    rows = []
    for name in conditions:
        found = {endpoint: rate(celled[endpoint][name]) for endpoint in ENDPOINTS}
        rows.append((name, *_rate_cells(found["matched"]), *_rate_cells(found["main"])))
    header = ("condition", "matched", "95 %", "pass/counted", "main", "95 %", "pass/counted")
    return Table("Pass@1", header, tuple(rows))


def _rate_cells(found: Rate) -> tuple[str, str, str]:
    value, interval = found.value, found.interval()
    if value is None or interval is None:
        return NONE, NONE, NONE
    return f"{value:.3f}", f"[{interval.low:.3f}, {interval.high:.3f}]", f"{found.passed}/{found.counted}"


def _contrasts(celled: Cells, conditions: Sequence[str], baseline: str) -> Table:
    rows = []
    for name in conditions:
        for endpoint in ENDPOINTS:
            if name != baseline:
                by_condition = celled[endpoint]
                rows.append((name, endpoint, *_contrast_cells(_test(by_condition, name, baseline))))
    header = ("condition", "endpoint", "D", "b", "c", "k", "zero traps", "paired", "excluded", "p", "verdict")
    notes = (
        f"Exact trap-clustered sign test, two-sided. b: cells only the condition passed, c: only {baseline}, "
        "D = b - c, k: traps with a difference. p is for each comparison by itself, not adjusted for their number; "
        '"not separated" does not say that two conditions are alike, and below k = 6 nothing can separate.',
    )
    return Table(f"Each condition against {baseline}", header, tuple(rows), notes)


def _test(by_condition: Mapping[str, Sequence[CellRecord]], name: str, baseline: str) -> ClusteredTest | None:
    """None when a side has no cells at all."""
    first, second = by_condition[name], by_condition[baseline]
    return compare(first, second) if first and second else None


def _contrast_cells(test: ClusteredTest | None) -> tuple[str, ...]:
    if test is None or not test.paired:
        excluded = NONE if test is None else str(test.excluded)
        return (*(NONE,) * 6, excluded, NONE, claims.NO_PAIRS)
    counts = (test.b, test.c, test.k, test.zero_traps, test.paired, test.excluded)
    return (f"{test.D:+d}" if test.D else "0", *(str(n) for n in counts), f"{float(test.p):.4g}", claims.verdict(test))


def _by_construct(celled: Cells, endpoint: Endpoint, conditions: Sequence[str]) -> Table:
    found = {name: rates_by(celled[endpoint][name], lambda cell: cell.construct) for name in conditions}
    constructs = sorted({c for rates in found.values() for c in rates}, key=_construct_order)
    rows = []
    for construct in constructs:
        shown = [found[name].get(construct, Rate(0, 0)) for name in conditions]
        rows.append((construct, *(f"{r.passed}/{r.counted}" if r.counted else NONE for r in shown)))
    return Table(f"Pass/counted by construct, {endpoint}", ("construct", *conditions), tuple(rows))


def _construct_order(name: str) -> tuple[int, str]:
    digits = name[1:]
    return (int(digits) if digits.isascii() and digits.isdigit() else 0, name)


def _counts(rows: Sequence[ArmRow], conditions: Sequence[str], planned: Mapping[str, int] | None) -> Table:
    lines = []
    for name in conditions:
        found = tally((row for row in rows if row.condition == name), planned[name] if planned else None)
        shown = [found.counts[outcome] for outcome in OUTCOMES]
        lines.append([name, *shown, found.not_run, found.planned, found.owed])
    total = ["all", *(sum(column) for column in list(zip(*lines, strict=True))[1:])] if lines else []
    body = tuple(tuple(str(cell) for cell in line) for line in [*lines, *([total] if total else [])])
    notes = ("The outcomes and the arms not run sum to the plan. Owed: invalid or not run; a rerun fills them.",)
    return Table("Outcomes of arms", ("condition", *OUTCOMES, "not run", "planned", "owed"), body, notes)


def _causes(rows: Sequence[ArmRow], conditions: Sequence[str]) -> Table:
    lines = [
        (name, outcome, cause or NONE, str(count))
        for name in conditions
        for (outcome, cause), count in causes(row for row in rows if row.condition == name).items()
    ]
    return Table("Causes of arms that did not pass", ("condition", "outcome", "cause", "arms"), tuple(lines))


def _claims_section(celled: Mapping[str, Cells], conditions: Sequence[str], baseline: str) -> Section:
    rows = []
    for name in conditions:
        if name != baseline:
            shown = [_claim(celled, e, name, baseline) for e in ENDPOINTS]
            rows.append((name, *shown))
    notes = (f"Headroom: {baseline} passes at most half of its cells, at every reader level.",)
    table = Table(f"Against {baseline}", ("condition", "matched", "main"), tuple(rows), notes)
    return Section("What may be claimed", tables=(table,))


def _claim(celled: Mapping[str, Cells], endpoint: Endpoint, name: str, baseline: str) -> str:
    verdicts = {}
    for reader, both in celled.items():
        test = _test(both[endpoint], name, baseline)
        verdicts[reader] = claims.NO_PAIRS if test is None else claims.verdict(test)
    headroom = all(claims.has_headroom(rate(both[endpoint][baseline])) for both in celled.values())
    return claims.claim(verdicts, headroom)
