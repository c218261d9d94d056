"""Progress of a run: a live panel on a terminal, plain lines elsewhere.

Invariant: it only listens; failures of ours are shown as they come and what it prints goes to stderr, so that stdout
stays for results.
"""

from __future__ import annotations

import time
from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from harness.outcome import Outcome
from harness.records import ArmRecord

_LINE_EVERY = 10.0  # seconds between plain lines


class Progress:
    """Counts endings by outcome. Use as a context; call `tell` with each committed arm."""

    def __init__(self, total: int, done: int = 0, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._total, self._before, self._arms = total, done, 0
        self._counts: Counter[str] = Counter()
        self._begun = self._last = time.monotonic()
        self._live = (
            Live(console=self._console, auto_refresh=False, transient=True) if self._console.is_terminal else None
        )

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()
        self._console.print(self._line(), highlight=False, soft_wrap=True)

    def tell(self, record: ArmRecord) -> None:
        """One more arm is committed."""
        self._arms += 1
        for ending in record.endings:
            self._counts[ending.outcome.value] += 1
            if ending.outcome == Outcome.INVALID:
                where = f"{ending.boundary.value}: " if ending.boundary else ""
                self._console.print(
                    f"invalid {record.arm} {where}{ending.cause}", highlight=False, markup=False, soft_wrap=True
                )
        now = time.monotonic()
        if self._live:
            self._live.update(Text(self._line()), refresh=True)
        elif now - self._last >= _LINE_EVERY:
            self._last = now
            self._console.print(self._line(), highlight=False, soft_wrap=True)

    def _line(self) -> str:
        seconds = max(time.monotonic() - self._begun, 1e-9)
        rate = self._arms / seconds
        left = self._total - self._before - self._arms
        outcomes = ", ".join(f"{self._counts[o.value]} {o.value}" for o in Outcome if self._counts[o.value])
        eta = f", {left / rate:.0f} s left" if rate and left else ""
        return f"{self._before + self._arms}/{self._total} arms ({outcomes or 'none yet'}), {rate:.1f} arms/s{eta}"
