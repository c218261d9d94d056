"""The running account of one session, from which its `Ledger` is made.

Invariant: changed in the relay's loop only; a count that was not told stays unknown for good.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from containers.relay_exchange import Exchange
from containers.relay_rules import Ledger, ModelUsage, Refused, total
from containers.relay_usage import Tokens

_LISTED = 1000  # refused requests that are kept


@dataclass
class _Used:
    calls: int = 0
    known: Tokens = field(default_factory=lambda: Tokens(0, 0))
    unknown: bool = False


@dataclass
class Book:
    """Times are monotonic seconds; `begun` and `ended` are None before the sandbox started and while it runs."""

    begun: float | None = None
    ended: float | None = None
    down: str = ""
    fault: str = ""
    pulled: int = 0
    _calls: int = 0
    _used: dict[str, _Used] = field(default_factory=dict)
    _hit: list[str] = field(default_factory=list)
    _refused: list[Refused] = field(default_factory=list)
    _refusals: int = 0
    _repeats: int = 0
    _cut: int = 0
    _silent: float = 0.0
    _waited: float = 0.0
    _waiters: int = 0
    _since: float = 0.0

    def call(self, model: str) -> None:
        """A call is let through."""
        self._calls += 1
        self._used.setdefault(model, _Used()).calls += 1

    def refuse(self, refused: Refused) -> None:
        """A request was not let through."""
        self._refusals += 1
        if len(self._refused) < _LISTED:
            self._refused.append(refused)

    def hit(self, limit: str) -> None:
        """A limit was reached."""
        if limit not in self._hit:
            self._hit.append(limit)

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """The time inside counts as waiting, once however many calls wait."""
        now = time.monotonic()
        if self._waiters == 0:
            self._since = now
        self._waiters += 1
        try:
            yield
        finally:
            self._waiters -= 1
            if self._waiters == 0:
                self._waited += time.monotonic() - self._since

    def close(self, exchange: Exchange) -> None:
        """A request has ended."""
        self._repeats += max(0, len(exchange.attempts) - 1)
        self._cut += exchange.end == "cut"
        if exchange.attempts and exchange.end in ("left", "limit"):
            self._silent = max(self._silent, time.monotonic() - exchange.heard)
        if not _spent(exchange):
            return
        used = self._used.setdefault(exchange.model, _Used())
        if exchange.tokens is None:
            used.unknown = True
        else:
            used.known = total([used.known, exchange.tokens])

    @property
    def calls(self) -> int:
        """Calls let through."""
        return self._calls

    def tokens(self) -> int:
        """Input and output so far, as far as they are known."""
        return sum(used.known.input + used.known.output for used in self._used.values())

    def ledger(self) -> Ledger:
        """As of now."""
        now = time.monotonic()
        usage = [
            ModelUsage(model, used.calls, None if used.unknown else used.known) for model, used in self._used.items()
        ]
        return Ledger(
            calls=self._calls,
            usage=tuple(usage),
            hit=tuple(self._hit),
            down=self.down,
            fault=self.fault,
            refused=tuple(self._refused),
            refusals=self._refusals,
            repeats=self._repeats,
            cut=self._cut,
            silent=self._silent,
            waited=self._waited + (now - self._since if self._waiters else 0.0),
            wall=0.0 if self.begun is None else (self.ended or now) - self.begun,
            pulled=self.pulled,
        )


def _spent(exchange: Exchange) -> bool:
    """Whether it may have cost tokens: one that was answered by an error has not."""
    if not exchange.attempts or exchange.route is None or not exchange.route.counts:
        return False
    return exchange.end in ("left", "limit") or exchange.status is None or exchange.status < 400
