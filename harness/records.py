"""What is written down about a session and an arm: the persisted records, with a schema version.

Invariant: a record is complete when it is committed (outcome, cause, boundary, carry manifest, tree ids), holds
ids of trees and blobs instead of their bytes, and a record of an unknown version is refused, never guessed at.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness.outcome import Boundary, Outcome

SCHEMA = 1


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Carried(_Record):
    """One thing that entered a session's sandbox."""

    name: str
    bytes: int
    sha256: str


class CheckRecord(_Record):
    """The public check on the tree a session left: its exit status (None: killed) and the end of its output."""

    passed: bool
    exit: int | None
    output: str
    seconds: float
    shared: bool  # the same tree and command had been checked before in this run


class SessionRecord(_Record):
    """One session. Tree fields are git tree ids in the run's store; blob fields are sha256 of files in blobs/."""

    schema_version: Literal[1] = 1
    number: int
    reader: str  # of S3; "" for S1 and S2, which need no fact
    tree_in: str
    tree_out: str
    carried: tuple[Carried, ...]
    memory_bytes: int
    prompt: str  # blob
    view: str  # blob
    transcript: str  # blob
    exit: int | None
    timed_out: bool
    hit: tuple[str, ...]
    active: dict[str, str]
    dropped: tuple[str, ...]
    check: CheckRecord | None
    seconds: float
    network: str


class VerdictCheck(_Record):
    """One check of the oracle; `held` is "a requirement was met" or "a forbidden behaviour was seen"."""

    name: str
    text: str
    kind: Literal["requires", "forbids"]
    held: bool
    choked: bool
    detail: str


class FactTrace(_Record):
    """How far one fact came in this arm (see `harness.funnel`)."""

    name: str
    role: str
    stage: Literal["injected", "written", "alive", "admitted", "used"]
    lost: str
    corrupted: bool
    kind: str = ""  # of the event that told it first
    after: int = 0  # the session which that event followed; 0: not recorded


class Contradiction(_Record):
    """A superseded fact and one that governs, as a store that tells states lists them after its last sleep."""

    old: str  # names of facts
    new: str
    old_inactive: bool  # listed, and only as superseded, retracted or expired
    new_active: bool
    linked: bool | None = None  # None: the listing has no links


class Ending(_Record):
    """How one S3 ended: the outcome of the arm at one reader level."""

    reader: str
    outcome: Outcome
    cause: str
    boundary: Boundary | None = None
    checks: tuple[VerdictCheck, ...] = ()
    production: tuple[str, ...] = ()
    stripped: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    shared: bool = False  # the same tree and change had been judged before in this run, on the same draw
    judging: float = 0.0  # seconds that judging took; 0 where it was shared, not needed, or not recorded
    funnel: tuple[FactTrace, ...] = ()  # none for instruments, which the harness fills
    used: tuple[str, ...] = ()  # names of facts whose value stands in the production change
    check: bool | None = None  # public check of S3 on the tree it left (None: it did not run)


class ArmRecord(_Record):
    """A finished arm."""

    schema_version: Literal[1] = 1
    arm: str
    trap: str
    construct_: str
    condition: str
    seed: int
    history: str
    main: bool
    expect: str
    warm_up: tuple[bool | None, ...]  # public check of S1, S2 (None: no check ran)
    carried_by_tree: tuple[str, ...]  # names of facts found in the S3 start tree
    injected: tuple[str, ...]  # names of facts that the events of this history carried
    receipts: tuple[str, ...]  # status of every write, in order
    store: str  # blob: the frozen store after S2
    shown: tuple[str, ...]  # class of each item that S3 was shown: useful, stale, harmful, distracting, irrelevant
    endings: tuple[Ending, ...]
    seconds: float
    attempt: int
    shown_types: tuple[str, ...] = ()  # type of each item that S3 was shown; "" where the memory exposes none
    contradictions: tuple[Contradiction, ...] = ()
    sleep: dict[str, int] = {}  # changes by operator, over all sleeps of the arm; an inert operator has 0
    refused: dict[str, int] | None = None  # rejected candidates by machine word, reads of S1 to S3 (None: not recorded)
