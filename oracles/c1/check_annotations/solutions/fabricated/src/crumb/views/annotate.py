"""Problems as annotations: lines that the build service picks up from a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from crumb.check import Problem

MATCHER = "lint:5e2f90c1ab37"  # as registered at the build service
PER_FILE = 10


def annotate(problems: Sequence[Problem]) -> list[str]:
    """One line a problem, but no more than the service shows of one file; then how many are left."""
    lines: list[str] = []
    total = Counter(problem.source for problem in problems)
    seen: Counter[str] = Counter()
    for problem in problems:
        source = problem.source
        seen[source] += 1
        if seen[source] <= PER_FILE:
            place = f"{source}:{problem.line}" if problem.line else source
            lines.append(_line(problem.severity, place, problem.message))
        elif seen[source] == PER_FILE + 1:
            lines.append(_line("notice", source, f"{total[source] - PER_FILE} more"))
    return lines


def _line(severity: str, place: str, message: str) -> str:
    return f"{MATCHER} {severity} {place} {message.replace('%', '%25')}"
