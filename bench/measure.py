"""Timing in turn: A B A B ..., medians, and the table of ratios.

Invariant: the two sides of a ratio are always timed in the same loop, so drift of the machine hits both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One ratio with its bound; `at_least` bounds from below."""

    name: str
    value: float
    bound: float
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def line(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{'ok  ' if self.holds else 'MISS'} {self.name}: {self.value:.2f} ({sign} {self.bound}) {self.note}"


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def in_turn(first: Callable[[], object], second: Callable[[], object], rounds: int) -> tuple[list[float], list[float]]:
    """Times of both, alternating, after one warm-up of each."""
    first(), second()
    pairs = [(seconds(first), seconds(second)) for _ in range(rounds)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def ratio(first: list[float], second: list[float]) -> float:
    """Median of the pairwise ratios."""
    return statistics.median(a / b for a, b in zip(first, second, strict=True))


def note(first: list[float], second: list[float], unit: float = 1000.0, name: str = "ms") -> str:
    """Both medians."""
    return f"medians {statistics.median(first) * unit:.1f} and {statistics.median(second) * unit:.1f} {name}"
