"""What may be said about a comparison, in the words that the report uses.

Invariant: a test that does not reject is "not separated", never "equal"; a baseline without headroom supports no
claim; a difference is claimed only when every reader level shows it in the same direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from analysis.clustered import ClusteredTest
from analysis.rates import Rate

ALPHA = 0.05
HEADROOM = Fraction(1, 2)  # the highest rate of the baseline at which a difference means something

NOT_SEPARATED = "not separated"
NO_PAIRS = "no paired cells"


def verdict(test: ClusteredTest) -> str:
    """ "better", "worse" (than the second condition), "not separated" or "no paired cells"."""
    if not test.paired:
        return NO_PAIRS
    if not test.separated(ALPHA):
        return NOT_SEPARATED
    return "better" if test.D > 0 else "worse"


def has_headroom(baseline: Rate) -> bool:
    """Does the baseline fail often enough? False also without any counted cell."""
    return bool(baseline.counted) and Fraction(baseline.passed, baseline.counted) <= HEADROOM


def claim(verdicts: Mapping[str, str], headroom: bool) -> str:
    """One claim from the verdicts by reader level (one level, "", for agents that have none)."""
    if not headroom:
        return "no claim (the baseline leaves no headroom)"
    found = set(verdicts.values())
    if len(found) == 1:
        (only,) = found
        if only not in ("better", "worse") or set(verdicts) == {""}:
            return only
        return (
            f"{only}, at every reader level" if len(verdicts) > 1 else f"{only} ({next(iter(verdicts))} reader alone)"
        )
    if verdicts.get("careful") == NOT_SEPARATED and verdicts.get("credulous") in ("better", "worse"):
        return f"state exposure only ({verdicts['credulous']} for the credulous reader)"
    return "no claim (reader levels disagree)"
