"""What models were asked and what that cost, by condition: calls, tokens by kind, money, seconds.

Invariant: a sum is None as soon as one part of it is, and then says so; amounts are exact decimals until they are
printed; what was paid for attempts that do not count stands apart and is in the total.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from analysis.cost import per_success
from analysis.report.findings import Findings, titled
from analysis.report.layout import NONE, Table
from analysis.report.numbers import amount, whole
from analysis.report.source import ModelTotal, Used

LOST = "(killed sessions)"
PHASES = {"wake": "wake: the agent", "sleep": "sleep: the memory"}
_HEADER = ("sessions", "calls", "input", "from cache", "to cache", "output", "USD", "model s", "wall s")


@dataclass(frozen=True)
class Sum:
    """Of some rows; tokens and USD are None as soon as one part is not known. Seconds of model and of wall time."""

    rows: int
    calls: int
    input: int | None
    cached: int | None
    written: int | None
    output: int | None
    usd: Decimal | None
    waited: float
    wall: float

    @property
    def tokens(self) -> int | None:
        """Input and output together."""
        return _total((self.input, self.output))


def add_up(rows: Sequence[Used]) -> Sum:
    """The sum over rows."""
    models = [model for row in rows for model in row.models]
    amounts = [row.usd for row in rows]
    return Sum(
        rows=len(rows),
        calls=sum(row.calls for row in rows),
        input=_total(m.input for m in models),
        cached=_total(m.cached for m in models),
        written=_total(m.written for m in models),
        output=_total(m.output for m in models),
        usd=None if None in amounts else sum((a for a in amounts if a is not None), Decimal(0)),
        waited=sum(row.waited for row in rows),
        wall=sum(row.wall for row in rows),
    )


def _total(parts: Iterable[int | None]) -> int | None:
    found = list(parts)
    return None if None in found else sum(part for part in found if part is not None)


def model_says(found: Findings) -> tuple[str, ...]:
    """Paragraphs: what all of it came to, by which prices, and what has none."""
    rows = found.data.used
    if not rows:
        return ()
    whole_run, left = add_up(rows), [row for row in rows if not row.counts]
    versions = sorted({row.prices for row in rows})
    prices = f"price table {versions[0]}" if len(versions) == 1 else f"price tables {', '.join(versions)}"
    usd = "an unknown amount" if whole_run.usd is None else f"{whole_run.usd:.4f} USD"
    says = [f"Models were asked in {len(rows)} sessions, {whole_run.calls} calls, for {usd} ({prices})."]
    if left:
        says.append(
            f"Of these, {len(left)} sessions with {add_up(left).calls} calls belong to attempts that do not count; "
            "they were paid all the same."
        )
    if unpriced := sorted({model or "(no name)" for row in rows for model in row.unpriced}):
        says.append(
            f"Without a known cost: {', '.join(unpriced)}. A model that the table lacks, a kind of tokens without a "
            "price, or an answer that told no tokens makes every sum that it is part of unknown."
        )
    return tuple(says)


def model_tables(found: Findings) -> tuple[Table, ...]:
    """By condition, for one success, by model, and what the relay saw."""
    if not found.data.used:
        return ()
    tables = [_by_condition(found), *(_per_success(found, reader) for reader in found.readers)]
    tables += [_by_model(found.data.used), _seen(found)]
    return tuple(table for table in tables if table.rows)


def _by_condition(found: Findings) -> Table:
    rows = []
    for name in found.conditions:
        for phase, words in PHASES.items():
            if mine := [row for row in _of(found, name) if row.phase == phase and row.counts]:
                rows.append((found.label(name), words, *_cells(mine)))
    for name in (*found.conditions, ""):
        if mine := [row for row in _of(found, name) if not row.counts]:
            rows.append((found.label(name) if name else LOST, "does not count", *_cells(mine)))
    rows.append(("all", "paid", *_cells(found.data.used)))
    notes = (
        "Input is all that was read, with what came from a provider's cache and what was put into one. Model s: in "
        "which a call waited for the endpoint; wall s: of the whole session. Does not count: attempts that were run "
        "again, and sessions that were killed.",
    )
    return Table("Model use", ("condition", "phase", *_HEADER), tuple(rows), notes)


def _of(found: Findings, condition: str) -> list[Used]:
    return [row for row in found.data.used if row.condition == condition]


def _cells(rows: Sequence[Used]) -> tuple[str, ...]:
    one = add_up(rows)
    tokens = (one.input, one.cached, one.written, one.output)
    return (str(one.rows), str(one.calls), *map(whole, tokens), _usd(one.usd), amount(one.waited), amount(one.wall))


def _usd(value: Decimal | None) -> str:
    return NONE if value is None else f"{value:.4f}"


def _per_success(found: Findings, reader: str) -> Table:
    rows = []
    for name in found.conditions:
        if mine := [row for row in _of(found, name) if row.counts]:
            one, passed = add_up(mine), found.tallies[reader, name].counts["pass"]
            parts = (one.calls, one.tokens, one.waited)
            calls, tokens, seconds = (None if part is None or not passed else part / passed for part in parts)
            rows.append(
                (
                    found.label(name),
                    str(passed),
                    amount(calls),
                    amount(tokens, 0),
                    amount(seconds),
                    _usd(per_success(one.usd, passed)),
                )
            )
    header = ("condition", "successes", "calls a success", "tokens a success", "model s a success", "USD a success")
    return Table(titled("For one success", reader), header, tuple(rows))


def _by_model(used: Sequence[Used]) -> Table:
    grouped: dict[tuple[str, str], list[ModelTotal]] = {}
    for row in used:
        for model in row.models:
            grouped.setdefault((model.model, row.phase), []).append(model)
    rows = [
        (
            name or "(no name)",
            PHASES[phase],
            str(sum(m.calls for m in models)),
            *(whole(_total(getattr(m, kind) for m in models)) for kind in ("input", "cached", "written", "output")),
        )
        for (name, phase), models in sorted(grouped.items())
    ]
    return Table("Model use by model", ("model", "phase", *_HEADER[1:6]), tuple(rows))


def _seen(found: Findings) -> Table:
    rows = []
    for name in (*found.conditions, ""):
        if mine := _of(found, name):
            hit = Counter(limit for row in mine for limit in row.hit)
            counts = (sum(getattr(row, what) for row in mine) for what in ("repeats", "cut", "refusals", "pulled"))
            limits = ", ".join(f"{limit}: {number}" for limit, number in sorted(hit.items())) or NONE
            rows.append((found.label(name) if name else LOST, *map(str, counts), limits))
    notes = (
        "Repeated: calls that were tried again after trouble of the endpoint. Cut off: answers that it broke off. "
        "Refused: requests of the agent that were not let through. Pulled: questions that the memory answered.",
    )
    header = ("condition", "repeated", "cut off", "refused", "pulled", "limits")
    return Table("What the relay saw", header, tuple(rows), notes)
