"""The exact trap-clustered sign test: the unit is the trap, the seeds of a trap swap labels together.

Invariant: counts are integers and p is a fraction of them; nothing is sampled, approximated or rounded here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from analysis.records import COUNTED, CellRecord, RecordError, check_cells
from analysis.signs import tail_count

Key = tuple[str, int]


@dataclass(frozen=True)
class ClusteredTest:
    """One comparison of two conditions over paired cells (same trap and seed).

    `b` cells passed only by the first, `c` only by the second, D = b - c = sum of the traps' scores. `k` traps
    have a score other than 0, `zero_traps` a score of 0. A planned cell that lacks a counted outcome on either side
    is excluded: `excluded_first` and `excluded_second` say whose, `unmatched` exist on one side only.
    """

    first: str
    second: str
    p: Fraction
    D: int
    b: int
    c: int
    both_pass: int
    both_fail: int
    k: int
    zero_traps: int
    excluded: int
    excluded_first: int
    excluded_second: int
    unmatched: int
    scores: Mapping[str, int] = field(repr=False)

    @property
    def paired(self) -> int:
        """Cells that count on both sides."""
        return self.b + self.c + self.both_pass + self.both_fail

    @property
    def traps(self) -> int:
        """Traps with at least one paired cell."""
        return self.k + self.zero_traps

    @property
    def score_counts(self) -> dict[int, int]:
        """How many traps have each score, by score."""
        return dict(sorted(Counter(self.scores.values()).items()))

    def separated(self, alpha: float = 0.05) -> bool:
        """Does the test reject? Compared as fractions; False says "not separated", never "equal"."""
        return self.p <= Fraction(str(alpha))


def sign_test(scores: Iterable[int]) -> Fraction:
    """Two-sided exact p: the share of the 2^k sign assignments whose sum is at least as far from 0.

    Zeros do not count; no score other than 0 gives 1. Raises ValueError for a score that is no integer.
    """
    weights: list[int] = []
    total = 0
    for score in scores:
        if type(score) is not int:
            raise ValueError(f"a trap score is a whole number, not {score!r}")
        total += score
        if score:
            weights.append(abs(score))
    if not weights or not total:
        return Fraction(1)
    return Fraction(tail_count(weights, abs(total)), 1 << len(weights))


def compare(first: Sequence[CellRecord], second: Sequence[CellRecord]) -> ClusteredTest:
    """Test the cells of one condition against those of another.

    Raises RecordError: no cells, several conditions or reader levels on a side, readers that differ, duplicates.
    """
    sides = [_index(side) for side in (first, second)]
    if sides[0][1] != sides[1][1]:
        raise RecordError(None, f"reader levels differ: {sides[0][1]!r} and {sides[1][1]!r}")
    a, b = sides[0][2], sides[1][2]
    planned = sorted(set(a) | set(b))
    counted = [key for key in planned if a.get(key) in COUNTED and b.get(key) in COUNTED]
    scores: dict[str, int] = {trap: 0 for trap, _ in counted}
    tally: Counter[tuple[bool, bool]] = Counter()
    for key in counted:
        passed = (a[key] == "pass", b[key] == "pass")
        tally[passed] += 1
        scores[key[0]] += passed[0] - passed[1]
    nonzero = sum(1 for score in scores.values() if score)
    return ClusteredTest(
        first=sides[0][0],
        second=sides[1][0],
        p=sign_test(scores.values()),
        D=sum(scores.values()),
        b=tally[True, False],
        c=tally[False, True],
        both_pass=tally[True, True],
        both_fail=tally[False, False],
        k=nonzero,
        zero_traps=len(scores) - nonzero,
        excluded=len(planned) - len(counted),
        excluded_first=sum(1 for outcome in a.values() if outcome not in COUNTED),
        excluded_second=sum(1 for outcome in b.values() if outcome not in COUNTED),
        unmatched=len(set(a) ^ set(b)),
        scores=scores,
    )


def _index(cells: Sequence[CellRecord]) -> tuple[str, str, dict[Key, str]]:
    check_cells(cells)
    names = {(cell.condition, cell.reader) for cell in cells}
    if len(names) != 1:
        raise RecordError(None, f"one condition and reader level expected, got {sorted(names)}")
    ((condition, reader),) = names
    return condition, reader, {(cell.trap, cell.seed): cell.outcome for cell in cells}
