"""The fact funnel over many arms: how many facts came how far, and why the others went no further.

Invariant: every fact is counted at exactly one end, so the ends of a funnel sum to the facts injected; facts that
govern and facts that must not be used are never added up together, because "not admitted" is a loss of the one and
the right thing for the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Stage = Literal["injected", "written", "alive", "admitted", "used"]
STAGES: tuple[Stage, ...] = get_args(Stage)

#: Roles of what is needed; whatever has another role must not be used.
GOVERNING = frozenset({"governing", "rule", "parameter", "confirming", "disconfirming"})
UNKNOWN = "unknown: "  # how the cause of a fact begins whose store cannot be listed


@dataclass(frozen=True)
class Fate:
    """How one fact of one arm ended. `kind`: the kind of event that told it; `lost` is "" when it was used."""

    name: str
    role: str
    stage: Stage
    lost: str
    corrupted: bool = False
    kind: str = ""

    @property
    def governs(self) -> bool:
        return self.role in GOVERNING

    @property
    def admitted(self) -> bool:
        return self.stage in ("admitted", "used")


@dataclass(frozen=True)
class FactRow:
    """One fact of one arm and reader level (before S3 the levels share everything)."""

    trap: str
    construct: str
    condition: str
    reader: str
    fate: Fate


@dataclass(frozen=True)
class Funnel:
    """`ends` counts the facts by the last stage they reached; `causes` by (stage, why no further).

    `corrupted` and `unknown` are parts of `injected`, not further ends: a changed form was all that was found; the
    store cannot be listed.
    """

    ends: Mapping[Stage, int]
    causes: Mapping[tuple[Stage, str], int]
    corrupted: int
    unknown: int

    @property
    def injected(self) -> int:
        return sum(self.ends.values())

    def reached(self, stage: Stage) -> int:
        """How many came to a stage or further; monotone along STAGES."""
        return sum(self.ends[later] for later in STAGES[STAGES.index(stage) :])


def funnel(fates: Iterable[Fate]) -> Funnel:
    """Count the ends and causes of some facts; the most frequent cause first, then by stage and name."""
    found = list(fates)
    ends = Counter(fate.stage for fate in found)
    causes = Counter((fate.stage, without_numbers(fate.lost)) for fate in found if fate.lost)
    return Funnel(
        {stage: ends[stage] for stage in STAGES},
        dict(sorted(causes.items(), key=lambda item: (-item[1], STAGES.index(item[0][0]), item[0][1]))),
        sum(fate.corrupted for fate in found),
        sum(fate.lost.startswith(UNKNOWN) for fate in found),
    )


def funnels_by(
    rows: Sequence[FactRow], key: Callable[[FactRow], str], *, governing: bool
) -> dict[tuple[str, str], Funnel]:
    """(value of `key`, condition) -> funnel, over the facts that govern, or over those that must not be used."""
    grouped: dict[tuple[str, str], list[Fate]] = {}
    for row in rows:
        if row.fate.governs == governing:
            grouped.setdefault((key(row), row.condition), []).append(row.fate)
    return {name: funnel(fates) for name, fates in grouped.items()}


def without_numbers(cause: str) -> str:
    """A cause that counts with others of its kind: measured numbers are left out ("score: 0.4 is below 1" too)."""
    word, colon, said = cause.partition(": ")
    if word in ("score", "budget", "over budget", "out-ranked"):
        return word
    return f"{word}{colon}{said}"
