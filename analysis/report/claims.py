"""What may be said about a comparison, in the words that the report uses.

Invariant: a test that does not reject is "not separated", never "equal"; a baseline without headroom supports no
claim; a difference is claimed only when every reader level shows it in the same direction; what the credulous level
alone shows is "state exposure".
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from analysis.clustered import ClusteredTest
from analysis.gates import Gate
from analysis.rates import Rate
from analysis.result import GATE_FAILS, MORE, NO_BASELINE, NO_HEADROOM, UNAVAILABLE, Slot
from analysis.result import NOT_SEPARATED as NOT_SEPARATED

ALPHA = 0.05
HEADROOM = Fraction(1, 2)  # the highest rate of the baseline at which a difference means something

NO_PAIRS = "no paired cells"
DISAGREE = "no claim (reader levels disagree)"
_BARS = (UNAVAILABLE, NO_PAIRS, NO_BASELINE, NO_HEADROOM, GATE_FAILS)  # said of one level, they bar a claim for all


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


def unregistered(slot: Slot, headroom: Gate, alpha: float) -> str:
    """What an exploratory slot shows at one reader level, by its own p."""
    if slot.test is None:
        return UNAVAILABLE
    if not slot.test.paired:
        return NO_PAIRS
    if headroom.status != "holds":
        return NO_HEADROOM if headroom.status == "fails" else NO_BASELINE
    return slot.ahead if slot.p <= Fraction(str(alpha)) else NOT_SEPARATED


def claim(verdicts: Mapping[str, str], headroom: bool = True) -> str:
    """One claim from the verdicts by reader level (one level, "", for agents that have none)."""
    if not headroom:
        return NO_HEADROOM
    found = set(verdicts.values())
    if barred := [word for word in _BARS if word in found]:
        return barred[0]
    if len(found) == 1:
        (only,) = found
        if not _differs(only) or set(verdicts) == {""}:
            return only
        return (
            f"{only}, at every reader level" if len(verdicts) > 1 else f"{only} ({next(iter(verdicts))} reader alone)"
        )
    if verdicts.get("careful") == NOT_SEPARATED and _differs(verdicts.get("credulous", "")):
        return f"state exposure only ({verdicts['credulous']} for the credulous reader)"
    return DISAGREE


def _differs(word: str) -> bool:
    return word in ("better", "worse") or word.endswith(MORE)
