"""How numbers are written in every table: shares, counts, intervals, p values.

Invariant: what was not measured, or had no opportunity, is "-" and never 0; a p that is not 0 or 1 is never shown as
0 or 1.
"""

from __future__ import annotations

from fractions import Fraction

from analysis.intervals import Interval
from analysis.rates import Rate
from analysis.report.layout import NONE


def p_value(p: Fraction | None) -> str:
    """Four digits; never rounded to 0 or, below it, to 1."""
    if p is None:
        return NONE
    text = f"{float(p):.4g}"
    return "<1" if text == "1" and p < 1 else "<1e-300" if text == "0" and p else text


def interval(found: Interval | None) -> str:
    """ "[low, high]" with three digits."""
    return NONE if found is None else f"[{found.low:.3f}, {found.high:.3f}]"


def ratio(found: Rate | None) -> str:
    """ "passed/counted"."""
    return NONE if found is None or not found.counted else f"{found.passed}/{found.counted}"


def share(value: float | Fraction | None) -> str:
    """Three digits after the point."""
    return NONE if value is None else f"{float(value):.3f}"


def signed(value: int) -> str:
    """A difference of counts with its sign; 0 has none."""
    return f"{value:+d}" if value else "0"


def whole(value: int | None) -> str:
    """A count."""
    return NONE if value is None else str(value)


def amount(value: float | None, digits: int = 1) -> str:
    """A measured amount with so many digits after the point."""
    return NONE if value is None else f"{value:.{digits}f}"
