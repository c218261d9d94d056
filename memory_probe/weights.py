"""Every number of the probe in one frozen object: ranking weights, thresholds, and what the operators write.

Invariant: no other module of the probe holds a number that changes what is admitted, so the digest of this object
(and of the variant that carries it) identifies a run's behaviour.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType

RULES = 1  # version of everything that is code and not a number: operators, judge, gates


@dataclass(frozen=True)
class Birth:
    """Confidence, utility and risk (each 0..1) with which an operator writes a memory."""

    confidence: float = 0.5
    utility: float = 0.5
    risk: float = 0.0


@dataclass(frozen=True)
class Weights:
    """Defaults are the published ones. Scores are sums of weight x a value in 0..1."""

    semantic: float = 1.4
    tags: float = 1.0
    files: float = 1.0
    symbols: float = 0.8
    task: float = 0.8
    type_prior: float = 0.5
    confidence: float = 0.6
    utility: float = 0.8
    human_verified: float = 0.3
    provenance: float = 0.4
    staleness: float = -1.0
    risk: float = -1.2
    age: float = -0.2
    overscope: float = -0.7
    contradiction: float = -0.5

    admit: float | None = 1.0  # admitted at or above this score; None admits everything
    k: int | None = None  # tightens the budget of the run; None leaves it
    tokens: int | None = None

    empty_scope: float = 0.2  # overlap of a memory that states no scope of that kind
    preferred: float = 1.0  # type prior of a type that the phase prefers
    other: float = 0.45
    no_phase: float = 0.5
    provenance_base: float = 0.25
    provenance_field: float = 0.2
    age_days: int = 365

    gate_risk: float = 0.95
    gate_staleness: float = 0.95
    stale_at: float = 0.95
    review_at: float = 0.9
    failed_session_risk: float = 0.25

    told: Birth = Birth(0.9)  # human feedback, contradictions, staleness notices
    noted: Birth = Birth(0.6)  # other events, and outcomes
    capsule: Birth = Birth()
    dream: Birth = Birth(0.45, 0.65, 0.4)
    failure: Birth = Birth(0.55, 0.7, 0.3)
    dispute: Birth = Birth(0.5, 0.55, 0.35)
    ungrounded_confidence: float = 0.3  # at most
    ungrounded_risk: float = 0.5  # at least

    topic: float = 0.5  # share of the smaller side's task words that two memories on one topic have in common
    topic_text: float = 0.3  # the same over all content words, where a side names no task

    phases: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType(
            {
                "implement": ("procedural", "semantic_project", "constraint"),
                "debug": ("failure", "procedural", "constraint"),
                "review": ("human_feedback", "constraint", "contradiction"),
            }
        )
    )

    def digest(self) -> str:
        """sha256 of every number and of the version of the rules."""
        return digest_of({"rules": RULES, **plain(self)})


def plain(weights: Weights) -> dict[str, object]:
    """The numbers as plain data."""
    bare = {name: getattr(weights, name) for name in weights.__dataclass_fields__}
    return {
        name: dict(value) if isinstance(value, Mapping) else asdict(value) if isinstance(value, Birth) else value
        for name, value in bare.items()
    }


def digest_of(data: object) -> str:
    """sha256 of canonical JSON, as hex."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
