"""What models cost a run: a session's ledger as a record, limits in USD while it runs, an estimate from an earlier run.

Invariant: amounts are exact decimals or unknown, and unknown is never 0: a limit counts what has no price of its own at
the most that it can cost.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction

from analysis.cost import Price, PriceTable, Usage, price_of
from containers.relay_rules import Ledger, ModelUsage
from harness.config import ModelConfig
from harness.outcome import UsageFault
from harness.records import ArmRecord, ModelTokens, ModelUse, SessionRecord, uses

#: Limits in USD by the names under which they stand among those that a session hit.
COST, MAX_COST = "cost", "max-cost"  # of the session; of the run, which says nothing of the agent

_LISTED = 20  # refused requests that a record names
_ZERO = Decimal(0)
_HIGH = Fraction(9, 10)


def use_of(ledger: Ledger, exchange: str, prices: PriceTable, longest: Mapping[str, int] | None = None) -> ModelUse:
    """The record of what a session used; `exchange` is the blob of its transcript.

    `longest` bounds the input of a single call by model; without it, all input together is the bound.
    """
    amounts = {used.model: _amount(used, prices, longest or {}) for used in ledger.usage}
    known = [amount for amount in amounts.values() if amount is not None]
    return ModelUse(
        calls=ledger.calls,
        tokens=tuple(_tokens(used, longest or {}) for used in ledger.usage),
        repeats=ledger.repeats,
        refusals=ledger.refusals,
        refused=tuple(f"{one.method} {one.target}: {one.why}" for one in ledger.refused[:_LISTED]),
        cut=ledger.cut,
        waited=round(ledger.waited, 4),
        wall=round(ledger.wall, 4),
        hit=ledger.hit,
        exchange=exchange,
        usd=f"{sum(known, _ZERO):f}" if len(known) == len(amounts) else None,
        prices=prices.version,
        unpriced=tuple(sorted(model for model, amount in amounts.items() if amount is None)),
        pulled=ledger.pulled,
    )


def _tokens(used: ModelUsage, longest: Mapping[str, int]) -> ModelTokens:
    told = used.tokens
    if told is None:
        return ModelTokens(model=used.model, calls=used.calls, input=None, output=None, cached=None, written=None)
    return ModelTokens(model=used.model, calls=used.calls, longest=longest.get(used.model), **asdict(told))


def _amount(used: ModelUsage, prices: PriceTable, longest: Mapping[str, int]) -> Decimal | None:
    told = used.tokens
    if told is None:
        return None
    counts = {f"{kind}_tokens": count for kind, count in asdict(told).items()}
    return price_of(Usage("", "wake", used.model, longest_input=longest.get(used.model), **counts), prices)


# -- limits ----------------------------------------------------------------------------------------------------


def spent(records: Iterable[SessionRecord | ArmRecord]) -> Decimal | None:
    """USD of committed records (give those of all attempts: each was paid); None if the cost of one is not known."""
    return _sum(use.amount for use in uses(records))


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    found = list(amounts)
    return None if None in found else sum((a for a in found if a is not None), _ZERO)


def total(used: Iterable[ModelUse]) -> Decimal | None:
    """USD as a limit counts them: what cannot be priced counts as the dearest that can; None if nothing can."""
    amounts = [use.amount for use in used]
    known = [amount for amount in amounts if amount is not None]
    if amounts and not known:
        return None
    return sum(known, _ZERO) + (len(amounts) - len(known)) * max(known, default=_ZERO)


def dearest(table: PriceTable) -> PriceTable:
    """The same with the most that input to and from a cache can cost, where the table does not say: a cache never makes
    reading dearer, and no provider takes more than twice the price for writing."""
    return table.model_copy(update={"model": {name: _dearest(price) for name, price in table.model.items()}})


def _dearest(price: Price) -> Price:
    cached = price.input if price.cached is None else price.cached
    written = 2 * price.input if price.written is None else price.written
    return price.model_copy(update={"cached": cached, "written": written})


def require_prices(model: ModelConfig, prices: PriceTable, limit: Decimal | None = None) -> None:
    """Raises UsageFault when there is a limit in USD, of the run or of a session, and no price for the model."""
    if (limit is not None or model.cost) and model.name not in prices.model:
        what = "model.cost" if limit is None else "--max-cost"
        raise UsageFault(f"{what}: no price for model {model.name} in table {prices.version}: give model.prices")


class Budget:
    """The money of one run. Safe from several threads.

    limit   USD for the whole run, those that were `spent` before included; None is no limit

    A call that is under way when the limit is reached is still paid. A session of which nothing is known any more (its
    endpoint told no tokens) is charged what the dearest one took; where there is none yet, all that is left.
    """

    def __init__(self, limit: Decimal | None, spent: Decimal | None, prices: PriceTable) -> None:
        """Raises UsageFault when there is a limit and what was spent before is not known."""
        if limit is not None and spent is None:
            raise UsageFault(
                "--max-cost: what this run has used before has no price, so that no limit can be kept "
                "(remedy: give model.prices, or resume without a limit)"
            )
        self.limit, self._bounds = limit, dearest(prices)
        self._lock = threading.Lock()
        self._done, self._dearest = spent or _ZERO, _ZERO
        self._open: set[Account] = set()

    def open(self, each: Decimal | float | None = None) -> Account:
        """The account of one session, which may take `each` USD (None and 0: no limit of its own)."""
        account = Account(self, Decimal(str(each)) if each else None, self._bounds)
        with self._lock:
            self._open.add(account)
        return account

    @property
    def total(self) -> Decimal:
        """USD as the limit counts them, with those of sessions under way."""
        with self._lock:
            return self._total()

    @property
    def exhausted(self) -> bool:
        """Whether no further session may be begun."""
        return self.limit is not None and self.total >= self.limit

    def look(self, account: Account, ledger: Ledger) -> str:
        """Bring an account up to date; the limit that is reached, or ""."""
        with self._lock:
            account.update(ledger)
            if account.each is not None and account.known >= account.each:
                return COST
            return MAX_COST if self.limit is not None and self._total() >= self.limit else ""

    def settle(self, account: Account, ledger: Ledger) -> None:
        """The session of an account is over; safe to call twice."""
        with self._lock:
            if account in self._open:
                account.update(ledger)
                self._done += self._charge(account)
                self._dearest = max(self._dearest, account.known)
                self._open.remove(account)

    def _total(self) -> Decimal:
        return self._done + sum((self._charge(account) for account in self._open), _ZERO)

    def _charge(self, account: Account) -> Decimal:
        if account.amount is not None:
            return account.amount
        return max(account.known, account.each or _ZERO, self._dearest) or self.limit or _ZERO


class Account:
    """What one session has cost so far. `gate` is for `Relay.open`; `close` ends it, once its sandbox is gone.

    `amount` bounds the cost so far (None: nothing does), `known` is the last bound that there was. `longest` is, by
    model, no less than the input of any one call.
    """

    def __init__(self, budget: Budget, each: Decimal | None, bounds: PriceTable) -> None:
        self._budget, self.each, self._bounds = budget, each, bounds
        self.amount: Decimal | None = _ZERO
        self.known = _ZERO
        self.longest: dict[str, int] = {}
        self._read: dict[str, int] = {}  # input by model at the last look

    def gate(self, ledger: Ledger) -> str:
        """The limit in USD that forbids another call, or ""."""
        return self._budget.look(self, ledger)

    def close(self, ledger: Ledger) -> None:
        """The session is over; safe to call twice."""
        self._budget.settle(self, ledger)

    def update(self, ledger: Ledger) -> None:
        """For the budget, which locks. What came in since the last look bounds the prompts of the calls in between."""
        for used in ledger.usage:
            if used.tokens is not None:
                grown = used.tokens.input - self._read.get(used.model, 0)
                self.longest[used.model] = max(self.longest.get(used.model, 0), grown)
                self._read[used.model] = used.tokens.input
        self.amount = _sum(_amount(used, self._bounds, self.longest) for used in ledger.usage)
        self.known = self.known if self.amount is None else self.amount


# -- an estimate -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """Of the `known` sessions: the mean, and the smallest value that nine in ten do not exceed. None of none."""

    mean: float | None
    high: float | None
    known: int

    def times(self, sessions: int) -> dict[str, float | int | None]:
        """For so many sessions: all as the mean, and all as the high one."""
        mean, high = (None if value is None else value * sessions for value in (self.mean, self.high))
        return {"mean": mean, "high": high, "known": self.known}


@dataclass(frozen=True)
class Estimate:
    """What a session of an earlier run took. `tokens` are input and output together."""

    sessions: int
    calls: Spread
    tokens: Spread
    usd: Spread

    def plain(self, sessions: int) -> dict[str, object]:
        """For so many sessions, as JSON takes it."""
        spreads = {"calls": self.calls, "tokens": self.tokens, "usd": self.usd}
        return {"sessions": self.sessions, **{name: spread.times(sessions) for name, spread in spreads.items()}}

    def lines(self, sessions: int) -> list[tuple[str, str, str]]:
        """(what, all as the mean, all as the high one) for so many sessions, in words."""
        found = []
        for name, spread, digits in (("calls", self.calls, 0), ("tokens", self.tokens, 0), ("USD", self.usd, 2)):
            values = spread.times(sessions)
            mean, high = ("not known" if values[k] is None else f"{values[k]:,.{digits}f}" for k in ("mean", "high"))
            partly = f" (from the {spread.known} whose are known)" if 0 < spread.known < self.sessions else ""
            found.append((name, mean, high + partly))
        return found


def estimate(records: Iterable[SessionRecord | ArmRecord]) -> Estimate | None:
    """By session for records of sessions, by arm for records of arms; None where none of them asked a model."""
    found = list(uses(records))
    if not found:
        return None
    return Estimate(
        sessions=len(found),
        calls=_spread([use.calls for use in found]),
        tokens=_spread([use.total("input", "output") for use in found]),
        usd=_spread([use.amount for use in found]),
    )


def _spread(values: Iterable[int | Decimal | None]) -> Spread:
    known = sorted(Fraction(value) for value in values if value is not None)
    if not known:
        return Spread(None, None, 0)
    return Spread(float(sum(known) / len(known)), float(known[math.ceil(_HIGH * len(known)) - 1]), len(known))
