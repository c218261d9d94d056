"""What each condition took, and the frontier of cost against Pass@1.

Invariant: a sum is over all arms of the condition, or "-" if a single one is unknown; a mean says of how many arms it
is where some are unknown; energy is never estimated; an instrument is on no frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from analysis.cost import per_success
from analysis.frontier import frontier
from analysis.report.figures import Point, Scatter
from analysis.report.findings import Findings, titled
from analysis.report.layout import NONE, Section, Table
from analysis.report.model_use import model_says, model_tables
from analysis.report.numbers import amount, whole
from analysis.report.source import Spent

COST = "Cost"
_SAYS = (
    "By condition, over arms with a record (all histories). View tokens and store bytes are means of the arms that "
    "have them (how many, where not all); seconds (of whole arms, all reader levels together), model tokens, calls and "
    f"USD are sums, and {NONE} where one arm's is not known. USD for one success divides by S3 passes. Energy was not "
    "measured. The figure sets what a condition costs against Pass@1 (matched, Wilson interval); a condition is on the "
    "frontier if no other is as good in both and better in one. Instruments are left out of it."
)


@dataclass(frozen=True)
class Mean:
    """Of `known` arms; None if of none."""

    value: float | None
    known: int


@dataclass(frozen=True)
class Bill:
    """Totals of one condition at one reader level. A sum is None where one arm's part is unknown, or without an arm."""

    arms: int
    view_tokens: Mean
    store_bytes: Mean
    seconds: float | None
    model_tokens: int | None
    calls: int | None
    usd: float | None
    successes: int

    @property
    def usd_per_success(self) -> float | None:
        found = per_success(None if self.usd is None else Decimal(repr(self.usd)), self.successes)
        return None if found is None else float(found)


def bill(spent: Sequence[Spent], successes: int) -> Bill:
    """Add up the arms of one condition and reader level."""
    return Bill(
        len(spent),
        _mean([s.view_tokens for s in spent]),
        _mean([s.store_bytes for s in spent]),
        sum(s.seconds for s in spent) if spent else None,
        _total([s.model_tokens for s in spent]),
        _total([s.calls for s in spent]),
        _usd([s.usd for s in spent]),
        successes,
    )


def money_section(found: Findings) -> Section:
    """One figure and one table a reader level."""
    if not found.data.spent:
        return Section(COST, ("Nothing was recorded of what this run took.",))
    bills = {reader: _bills(found, reader) for reader in found.readers}
    figures = tuple(_scatter(found, reader, by) for reader, by in bills.items())
    tables = (_table(found, reader, by) for reader, by in bills.items())
    return Section(COST, (_SAYS, *model_says(found)), (*tables, *model_tables(found)), figures)


def _bills(found: Findings, reader: str) -> dict[str, Bill]:
    spent: dict[str, list[Spent]] = {name: [] for name in found.conditions}
    for one in found.data.spent:
        if one.reader == reader and one.condition in spent:
            spent[one.condition].append(one)
    return {name: bill(mine, found.tallies[reader, name].counts["pass"]) for name, mine in spent.items()}


def _table(found: Findings, reader: str, bills: dict[str, Bill]) -> Table:
    rows = tuple(
        (
            found.label(name),
            str(one.arms),
            _shown(one.view_tokens, one.arms, 1),
            _shown(one.store_bytes, one.arms, 0),
            amount(one.seconds),
            whole(one.model_tokens),
            whole(one.calls),
            amount(one.usd, 4),
            str(one.successes),
            amount(one.usd_per_success, 4),
            NONE,
        )
        for name, one in bills.items()
    )
    header = ("condition", "arms", "view tokens", "store bytes", "seconds", "model tokens", "calls", "USD", "successes",
              "USD a success", "energy")  # fmt: skip
    return Table(titled("What it took", reader), header, rows)


def _scatter(found: Findings, reader: str, bills: dict[str, Bill]) -> Scatter:
    names = found.memories
    priced = all(bills[name].usd is not None for name in names)
    cost: Callable[[Bill], float | None] = _usd_an_arm if priced else _view
    places = {name: (cost(bills[name]), found.rate(reader, "matched", name).value) for name in names}
    best = frontier(places)
    points = []
    for name, (x, y) in places.items():
        interval = found.rate(reader, "matched", name).interval()
        low, high = (interval.low, interval.high) if interval else (None, None)
        points.append(Point(name, x, y, low, high, frontier=name in best))
    label = "USD an arm" if priced else "tokens of the S3 view, mean an arm"
    says = (
        "Further left costs less, higher passes more. The stepped line joins the conditions on the frontier (filled); "
        "of many conditions only those are named in the drawing, and all of them in the table."
    )
    return Scatter(titled("Cost and Pass@1", reader, "matched"), says, label, "Pass@1", tuple(points))


def _usd_an_arm(one: Bill) -> float | None:
    return None if one.usd is None or not one.arms else one.usd / one.arms


def _view(one: Bill) -> float | None:
    return one.view_tokens.value


def _shown(mean: Mean, arms: int, digits: int) -> str:
    partly = mean.value is not None and mean.known < arms
    return amount(mean.value, digits) + (f" ({mean.known} of {arms} arms)" if partly else "")


def _mean(parts: Sequence[int | None]) -> Mean:
    known = [part for part in parts if part is not None]
    return Mean(sum(known) / len(known) if known else None, len(known))


def _total(parts: Sequence[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _usd(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
