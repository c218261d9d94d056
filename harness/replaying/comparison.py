"""What two endings of one S3 differ in, field by field.

Invariant: whatever a report counts is compared, but for the details of checks and the times, which differ by nature
(details hold addresses); texts of a difference are short and may hold anything, so that who prints them cleans them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.records import Ending

LONGEST = 300  # characters of each side of a difference
NOTHING = "nothing"


@dataclass(frozen=True)
class Difference:
    """One field in which a replay is not what was recorded; `reader` is "-" for what concerns the whole arm."""

    arm: str
    reader: str
    field: str
    recorded: str
    replayed: str


def shortened(text: str) -> str:
    """At most LONGEST characters."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def compared(arm: str, old: Ending, new: Ending) -> Iterator[Difference]:
    """Every difference between two endings of the same arm and reader level."""
    left, right = _fields(old), _fields(new)
    for field in dict.fromkeys((*left, *right)):
        was, now = left.get(field, NOTHING), right.get(field, NOTHING)
        if was != now:
            yield Difference(arm, old.reader, shortened(field), *_sides(was, now))


def _sides(was: str, now: str) -> tuple[str, str]:
    """Long texts are shown from a little before the place where they part."""
    if max(len(was), len(now)) > LONGEST:
        pairs = zip(was, now, strict=False)
        same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(was), len(now)))
        if (skipped := max(same - 20, 0)) > 0:
            was, now = f"…{was[skipped:]}", f"…{now[skipped:]}"
    return shortened(was), shortened(now)


def _fields(ending: Ending) -> Mapping[str, str]:
    found = {
        "outcome": ending.outcome.value,
        "cause": ending.cause or NOTHING,
        "boundary": ending.boundary.value if ending.boundary else NOTHING,
        "used": ", ".join(ending.used) or NOTHING,
        "production": ", ".join(ending.production) or NOTHING,
        "stripped": ", ".join(ending.stripped) or NOTHING,
        "forbidden": ", ".join(ending.forbidden) or NOTHING,
        "checks": ", ".join(check.name for check in ending.checks) or NOTHING,
    }
    for check in ending.checks:
        state = "choked" if check.choked else "held" if check.held else "not held"
        found[f"check {check.name}"] = f"{state}: {check.kind}: {check.text}"
    for fact in ending.funnel:
        found[f"fact {fact.name}"] = f"{fact.stage}{f' ({fact.lost})' if fact.lost else ''}"
    return found
