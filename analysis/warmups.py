"""S3 given that S1 and S2 passed: is what goes wrong in S3 hidden by sessions that each look right?

The unit is the arm (all histories). Invariant: every arm with a counted S3 is in exactly one of "both passed", "one
failed" and "not known" (a public check of S1 or S2 did not run), so the three sum to the single-session rate of S3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from analysis.rates import Rate


class Warm(Protocol):
    """Public checks of S1 and S2 of one arm (None: none ran) and its S3 (None: does not count)."""

    @property
    def s1(self) -> bool | None: ...

    @property
    def s2(self) -> bool | None: ...

    @property
    def passed(self) -> bool | None: ...


@dataclass(frozen=True)
class Conditional:
    """Single-session pass rates of S1, S2 and S3, and S3's by what S1 and S2 did."""

    s1: Rate
    s2: Rate
    s3: Rate
    both_passed: Rate
    one_failed: Rate
    not_known: Rate


def conditional(rows: Iterable[Warm]) -> Conditional:
    """Count the arms of one condition and reader level."""
    found = list(rows)
    both: list[bool | None] = []
    failed: list[bool | None] = []
    unknown: list[bool | None] = []
    for row in found:
        checks = (row.s1, row.s2)
        (failed if False in checks else unknown if None in checks else both).append(row.passed)
    return Conditional(
        _rate(row.s1 for row in found),
        _rate(row.s2 for row in found),
        _rate(row.passed for row in found),
        *(_rate(part) for part in (both, failed, unknown)),
    )


def sessions(rows: Sequence[Warm]) -> tuple[int, int] | None:
    """(passed, run) public checks of S1 and S2 together, for the warm-up gate; None where none ran."""
    found = conditional(rows)
    ran = found.s1.counted + found.s2.counted
    return (found.s1.passed + found.s2.passed, ran) if ran else None


def _rate(values: Iterable[bool | None]) -> Rate:
    known = [value for value in values if value is not None]
    return Rate(sum(known), len(known))
