"""What is written down about a session and an arm: the persisted records, with a schema version.

Invariant: a record is complete when it is committed (outcome, cause, boundary, carry manifest, tree ids), holds
ids of trees and blobs instead of their bytes, and a record of an unknown version is refused, never guessed at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from harness.outcome import MODEL_LIMITS, TIMEOUT, Boundary, Outcome

SCHEMA = 1

Count = Annotated[int, Field(ge=0, le=10**15)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]
Usd = Annotated[str, Field(pattern=r"^[0-9]{1,20}(\.[0-9]{1,60})?$")]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Grown(_Record):
    """A record with keys in `LATER` that came later: where one is None it is left out, so that a record without it
    is, to the byte, what it was before there was the key."""

    LATER: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in write(self).items() if value is not None or key not in self.LATER}


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


class ModelTokens(_Record):
    """What was used of one model ("" = requests that named none). Counts are None as soon as one answer's are unknown.

    `input` is all that was read, `cached` and `written` the parts of it that came from a cache and were put into one.
    `longest` is no less than the input of any single call; None where that is not known.
    """

    model: str
    calls: Count
    input: Count | None
    output: Count | None
    cached: Count | None
    written: Count | None
    longest: Count | None = None


class ModelUse(_Record):
    """What one session (or the memory of one arm) used of the model endpoint, as the relay counted it.

    calls     requests that were let through; `repeats` attempts beyond the first of each
    refusals  requests that were not let through; `refused` the first of them, "METHOD target: why"
    cut       answers that the endpoint broke off
    waited    seconds in which a call waited for the endpoint; `wall` seconds from first to last
    hit       limits that were reached
    exchange  compressed blob: what was said in both directions, without the key; "" = not kept
    usd       None where a price or a count is unknown; `prices` the version of the table, `unpriced` whose it is
    pulled    questions that the memory answered in the session
    trouble   what of ours went wrong: the endpoint was down, the relay failed, the run had no money left; or ""
    """

    calls: Count
    tokens: tuple[ModelTokens, ...]
    repeats: Count
    refusals: Count
    refused: tuple[str, ...]
    cut: Count
    waited: Seconds
    wall: Seconds
    hit: tuple[str, ...]
    exchange: str
    usd: Usd | None
    prices: str
    unpriced: tuple[str, ...] = ()
    pulled: Count = 0
    trouble: str = ""

    @property
    def amount(self) -> Decimal | None:
        """USD; None where it is not known."""
        return None if self.usd is None else Decimal(self.usd)

    def total(self, *kinds: Literal["input", "output", "cached", "written"]) -> int | None:
        """Tokens of these kinds over all models; None as soon as one count is."""
        counts = [getattr(entry, kind) for entry in self.tokens for kind in kinds]
        return None if None in counts else sum(counts)


class SessionRecord(_Grown):
    """One session. Tree fields are git tree ids in the run's store; blob fields are sha256 of files in blobs/."""

    LATER = ("model", "paid_in", "memory_in", "memory_out")

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
    model: ModelUse | None = None  # None: there was no model endpoint
    memory_in: str | None = None  # trees of the directory that the agent itself keeps; None: it keeps none
    memory_out: str | None = None
    paid_in: Count | None = None  # the attempt in which it was run and paid for, if not in this one

    @property
    def trees(self) -> frozenset[str]:
        """The trees that it names."""
        named = (self.tree_in, self.tree_out, self.memory_in, self.memory_out)
        return frozenset(tree for tree in named if tree)

    @property
    def texts(self) -> frozenset[str]:
        """The blobs of texts that it names."""
        return frozenset({self.prompt, self.view, self.transcript}) - {""}


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


class ArmRecord(_Grown):
    """A finished arm."""

    LATER = ("asked",)

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
    asked: ModelUse | None = None  # of a model by the memory itself, over the whole arm (None: it asks none)


def uses(records: Iterable[SessionRecord | ArmRecord]) -> Iterator[ModelUse]:
    """What was paid for according to the records: by agents in sessions, by memories in arms."""
    for record in records:
        found = record.asked if isinstance(record, ArmRecord) else None if record.paid_in else record.model
        if found is not None:
            yield found


def exchange_blobs(records: Iterable[SessionRecord | ArmRecord]) -> frozenset[str]:
    """The exchanges with a model that the records name."""
    return frozenset(use.exchange for use in uses(records)) - {""}


def stopped_by(session: SessionRecord) -> str:
    """The word for the limit that ended a session early, or ""."""
    return stopped_by_limit(session.timed_out, session.model)


def stopped_by_limit(timed_out: bool, use: ModelUse | None) -> str:
    """The same, of a session that is not recorded yet."""
    if timed_out:
        return TIMEOUT
    return next((MODEL_LIMITS[limit] for limit in use.hit if limit in MODEL_LIMITS), "") if use else ""
