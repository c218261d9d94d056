"""What a report is made from: plain data about one run, which the harness reads from its directory.

Invariant: nothing here needs the run any more; texts that come from a sandbox are strings that no renderer trusts, kept
once under the digest of their content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from analysis.family import Family
from analysis.funnel import FactRow
from analysis.hygiene import HygieneRow
from analysis.inert import Part
from analysis.outcomes import TrapInfo
from analysis.records import ArmRow

REFERENCE = "reference"


@dataclass(frozen=True)
class Card:
    """A condition as `dreambench conditions` shows it."""

    code: str
    title: str
    version: str
    capabilities: tuple[str, ...] = ()
    needs_model: bool = False
    instrument: bool = False  # EVIDENCE, POISON: they check traps and are no memory


@dataclass(frozen=True)
class WarmUp:
    """Public checks of S1 and S2 of one arm (None: none ran) and how its S3 ended at one reader level."""

    trap: str
    condition: str
    seed: int
    history: str
    reader: str
    s1: bool | None
    s2: bool | None
    passed: bool | None  # S3; None where the outcome does not count


@dataclass(frozen=True)
class Spent:
    """What one arm took. `view_tokens`: tokens of the view that S3 was shown; `store_bytes`: its frozen store.

    `model_tokens`, `calls` and `usd` are None where no model was asked or nothing is known of it; never 0 for unknown.
    """

    condition: str
    reader: str
    view_tokens: int | None
    store_bytes: int | None
    seconds: float
    model_tokens: int | None = None
    calls: int | None = None
    usd: float | None = None


@dataclass(frozen=True)
class Used:
    """What one session ("wake") or one arm's memory ("sleep") used of a model endpoint; None: not known, never 0.

    `condition` is "" for a session that was killed before it could be recorded. `counts`: it is part of what the
    outcome that stands took; what came before that was paid as well. `waited`: seconds in which a call waited for the
    endpoint, `wall` those of the whole; `usd` by the table `prices`.
    """

    condition: str
    phase: Literal["wake", "sleep"]
    counts: bool
    calls: int
    models: tuple[ModelTotal, ...]
    usd: Decimal | None
    prices: str
    unpriced: tuple[str, ...]
    waited: float
    wall: float
    repeats: int = 0
    refusals: int = 0
    cut: int = 0
    pulled: int = 0
    hit: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelTotal:
    """Calls and tokens of one model; tokens are None as soon as one count is not known."""

    model: str
    calls: int
    input: int | None
    cached: int | None
    written: int | None
    output: int | None


@dataclass(frozen=True)
class RunData:
    """One run. `told` are label and value of everything that says what was run; `planned` arms by condition."""

    title: str
    agent: str  # REFERENCE for the deterministic agent, else its card
    told: tuple[tuple[str, str], ...]
    cards: tuple[Card, ...]
    family: Family | None  # None: nothing was registered, so everything is exploratory
    arms: tuple[ArmRow, ...]
    planned: Mapping[str, int]
    traps: Mapping[str, TrapInfo]
    carried: frozenset[tuple[str, str, int]] = frozenset()  # trap, condition, seed: the S3 start tree held a fact
    poisoned: frozenset[str] = frozenset()  # traps that have something that must not be used
    warm_ups: tuple[WarmUp, ...] = ()
    spent: tuple[Spent, ...] = ()
    used: tuple[Used, ...] = ()  # empty where no model was called
    facts: tuple[FactRow, ...] = ()
    hygiene: tuple[HygieneRow, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Shown:
    """One item of a view, or one that a read refused (`why` is then the reason). `text` is a key of the texts."""

    text: str
    date: str = ""
    type: str = ""
    scope: str = ""
    state: str = ""
    role: str = ""  # useful, stale, harmful, distracting, irrelevant; "" where it was not classed
    why: str = ""


@dataclass(frozen=True)
class CheckLine:
    """One check: `mark` is "ok", "missed" (a requirement) or "seen" (a forbidden behaviour)."""

    mark: str
    text: str
    detail: str = ""


@dataclass(frozen=True)
class SessionDetail:
    """One session. `prompt`, `diff`, `transcript` are keys of the texts ("" where there is none)."""

    number: int
    reader: str
    prompt: str
    admitted: tuple[Shown, ...]
    rejected: tuple[Shown, ...]
    considered: int
    memory_bytes: int
    diff: str
    check: str  # "passed", "failed", "" (none ran)
    carried: tuple[tuple[str, int, str], ...] = ()  # name, bytes, sha256
    notes: tuple[str, ...] = ()  # time out, limits hit, what was not captured
    transcript: str = ""


@dataclass(frozen=True)
class EndingDetail:
    """The verdict at one reader level, with the fate of every fact in words."""

    reader: str
    outcome: str
    cause: str
    boundary: str
    checks: tuple[CheckLine, ...]
    fates: tuple[str, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()  # kind (production, stripped, forbidden), path


@dataclass(frozen=True)
class ArmDetail:
    """One arm as a person wants to read it."""

    arm: str
    trap: str
    construct: str
    condition: str
    seed: int
    history: str
    expect: str
    attempt: int
    sessions: tuple[SessionDetail, ...]
    endings: tuple[EndingDetail, ...]


@dataclass(frozen=True)
class Arms:
    """Every arm's detail, and the texts by key. `cut`: characters to which each text was cut (None: none was)."""

    details: tuple[ArmDetail, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
