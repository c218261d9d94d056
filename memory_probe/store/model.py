"""What the store holds: memories with their evidence, their standing, and links between them.

Invariant: a `Memory` never changes once written; what changes is its `Standing`, and every change is a row of the
lifecycle log.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from memory_probe.protocol import Scope

MemoryType = Literal[
    "episodic",
    "semantic_project",
    "procedural",
    "failure",
    "human_feedback",
    "constraint",
    "contradiction",
    "dream_artifact",
]
Status = Literal["active", "superseded", "stale", "requires_review", "deleted"]
LinkKind = Literal["supersedes", "contradicts"]
TYPES: tuple[str, ...] = get_args(MemoryType)
STATUSES: tuple[str, ...] = get_args(Status)
LINKS: tuple[str, ...] = get_args(LinkKind)


@dataclass(frozen=True)
class Provenance:
    """Where a memory comes from. `trajectory` names episodes, `feedback` their notes, `command` their checks."""

    trajectory: tuple[str, ...] = ()
    task: str = ""
    commit: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    feedback: tuple[str, ...] = ()

    @property
    def populated(self) -> int:
        """How many of the six fields say something."""
        return sum(1 for f in fields(self) if getattr(self, f.name))

    @property
    def grounded(self) -> bool:
        return self.populated > 0

    def evidence(self) -> tuple[str, ...]:
        """The ids that must resolve in the raw log."""
        return (*self.trajectory, *self.feedback, *self.command)

    def __str__(self) -> str:
        return ", ".join(self.feedback or self.command or self.trajectory or self.path or self.commit) or self.task


@dataclass(frozen=True)
class Standing:
    """What may change about a memory. Degrees are 0..1."""

    status: Status = "active"
    confidence: float = 0.5
    utility: float = 0.5
    risk: float = 0.0
    staleness: float = 0.0
    valid_until: dt.date | None = None
    updated: dt.date = dt.date.min
    last_used: dt.date | None = None
    use_count: int = 0
    outcome_impact: float = 0.0


@dataclass(frozen=True)
class Memory:
    """What was written, once. `episode` and `note` order the evidence: a later pair was told later."""

    content: str
    type: MemoryType
    provenance: Provenance
    write_reason: str
    repository: str
    scope: Scope
    created: dt.date
    valid_from: dt.date
    kind: str = ""
    author: str = ""
    authority: int = 0
    tags: tuple[str, ...] = ()
    human_verified: bool = False
    episode: int = 0
    note: int = 0

    def __post_init__(self) -> None:
        if not self.content.strip() or not self.write_reason.strip():
            raise ValueError("a memory has a content and a reason for having been written")
        if self.type not in TYPES:
            raise ValueError(f"unknown memory type {self.type!r}")

    @property
    def told(self) -> tuple[dt.date, int, int]:
        """When its evidence was told: date first, then order of arrival."""
        return self.valid_from, self.episode, self.note


@dataclass(frozen=True)
class Link:
    """`source` (the newer side) supersedes or contradicts `target`; both are memory ids."""

    source: int
    kind: LinkKind
    target: int


def memory_text(memory: Memory) -> str:
    """Canonical JSON of a memory; ASCII, so every text survives byte for byte."""
    return json.dumps(vars(memory), default=_plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def memory_from(text: str) -> Memory:
    """Raises ValueError, KeyError or TypeError for text that `memory_text` did not write."""
    data = json.loads(text)
    origin, scope = data.pop("provenance"), data.pop("scope")
    origin = {k: v if isinstance(v, str) else tuple(v) for k, v in origin.items()}
    return Memory(
        **{
            **data,
            "provenance": Provenance(**origin),
            "scope": Scope(tuple(scope["files"]), tuple(scope["symbols"]), scope["task"]),
            "tags": tuple(data["tags"]),
            "created": dt.date.fromisoformat(data["created"]),
            "valid_from": dt.date.fromisoformat(data["valid_from"]),
        }
    )


def memory_hash(number: int, text: str) -> str:
    """Binds a memory's text to its id."""
    return hashlib.sha256(f"{number}\n{text}".encode()).hexdigest()


_DATES = ("valid_until", "updated", "last_used")


def changes_text(changes: Mapping[str, object]) -> str:
    """Canonical JSON of some fields of a standing."""
    return json.dumps(changes, default=_plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def changed(standing: Standing, text: str) -> Standing:
    """A standing after the changes of one lifecycle entry. Raises ValueError or TypeError for what is none."""
    data = json.loads(text)
    for name in _DATES:
        if data.get(name):
            data[name] = dt.date.fromisoformat(data[name])
    after = replace(standing, **data)
    if after.status not in STATUSES:
        raise ValueError(f"unknown status {after.status!r}")
    return after


def _plain(value: object) -> object:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, (Provenance, Scope)):
        return vars(value)
    raise TypeError(f"cannot store a {type(value).__name__}")
