"""The format of `trap.toml` and `fixture.toml`, as pydantic models.

Invariant: a file that loads here is complete (no optional key changes meaning by being absent), unknown keys are
refused, and an error names the file and the key.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

SCHEMA = 1
PLAIN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"  # a file beside trap.toml
MAX_TOML = 4 << 20  # characters of a file
MAX_DOTS = 1000  # of a line: the parser takes memory by the square of the parts of a dotted key

M = TypeVar("M", bound=BaseModel)

Construct = Literal["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10"]
Family = Literal["convention-learning", "generated-files", "stale-architecture", "reviewer-preference", "flaky-test"]
EventKind = Literal["human_feedback", "contradiction", "failure_diagnosis", "staleness"]
Role = Literal[
    "governing",
    "superseded",
    "distractor",
    "rule",
    "parameter",
    "spurious",
    "disconfirming",
    "confirming",
    "decoy",
]
Expect = Literal["use", "abstain"]


class TrapError(Exception):
    """A trap or fixture file that cannot be used; the message names the file and the line or key."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fact(_Strict):
    """A value that is drawn fresh (token, choice) or computed from drawn ones by the oracle (derived)."""

    kind: Literal["token", "choice", "derived"]
    format: str = ""
    variants: tuple[str, ...] = ()
    supersedes: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.kind == "token") != bool(self.format):
            raise ValueError("a token has a format; a choice and a derived fact have none")
        if (self.kind == "choice") != bool(self.variants):
            raise ValueError("a choice lists its variants; other kinds have none")
        return self


class Session(_Strict):
    """One of the three sessions. `paths` are globs of what it may change (S3: the paths of the memory query)."""

    date: dt.date
    prompt: str = Field(pattern=PLAIN)
    paths: tuple[str, ...]
    symbols: tuple[str, ...] = ()
    task: str
    check: tuple[str, ...]


class Scope(_Strict):
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    task: str = ""


class _Note(_Strict):
    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    kind: EventKind
    author: str
    authority: int
    date: dt.date
    until: dt.date | None = None
    text: str = Field(pattern=PLAIN)
    scope: Scope = Scope()
    carries: tuple[str, ...] = ()
    ref: str = "N-{digit:6}"


class Event(_Note):
    """Evidence that appears after a session and reaches S3 only through memory."""

    after: Literal[1, 2]


class Poison(_Note):
    """A note that only the POISON instrument shows."""

    histories: tuple[str, ...] = ()


class History(_Strict):
    """One course of events: an event is present iff it has a role."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    roles: dict[str, Role]
    expect: Expect


class TrapFile(_Strict):
    """`trap.toml`. `reason` says why the evidence cannot be inferred; `evidence_only` why no memory yet passes it."""

    schema_: Literal[1] = Field(alias="schema")
    id: str = Field(pattern=r"^c\d+_[a-z0-9_]+$")
    construct_: Construct = Field(alias="construct")
    family: Family
    skeleton: str
    authors: tuple[str, ...]
    title: str
    reason: str = ""
    evidence_only: str = ""
    fixture: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    evidence: Literal["verbatim", "synthesis", "procedure", "disconfirmation", "none"]
    clean_start: bool
    allow: tuple[str, ...]
    sources: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    generator: tuple[str, ...] = ()
    facts: dict[str, Fact]
    session: tuple[Session, Session, Session]
    event: tuple[Event, ...] = ()
    poison: tuple[Poison, ...] = ()
    history: tuple[History, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _linked(self) -> Self:
        events = {e.id for e in self.event}
        names = [n.id for n in (*self.event, *self.poison)]
        if len(set(names)) != len(names):
            raise ValueError("two events share an id")
        for note in (*self.event, *self.poison):
            for fact in note.carries:
                if fact not in self.facts:
                    raise ValueError(f"event {note.id} carries an unknown fact {fact!r}")
        histories = [h.name for h in self.history]
        if len(set(histories)) != len(histories):
            raise ValueError("two histories share a name")
        for history in self.history:
            if unknown := set(history.roles) - events:
                raise ValueError(f"history {history.name} gives a role to unknown events {sorted(unknown)}")
        for poison in self.poison:
            if unknown := set(poison.histories) - set(histories):
                raise ValueError(f"poison {poison.id} names unknown histories {sorted(unknown)}")
        for name, drawn in self.facts.items():
            if drawn.supersedes is not None and drawn.supersedes not in self.facts:
                raise ValueError(f"facts.{name}.supersedes names an unknown fact {drawn.supersedes!r}")
        if bool(self.generator) != bool(self.artifacts):
            raise ValueError("generator and artifacts come together")
        return self

    @property
    def main_history(self) -> str:
        """The history of the published fold: C9 `disconfirmed`, C10 `absent`, else the first."""
        wanted = {"C9": "disconfirmed", "C10": "absent"}.get(self.construct_)
        names = [h.name for h in self.history]
        return wanted if wanted in names else names[0]


class FixtureFile(_Strict):
    """`fixture.toml`. A hosted fixture names a package, its version, archive and sha256; an own one has `repo/`."""

    schema_: Literal[1] = Field(alias="schema")
    name: str
    title: str
    tests: tuple[str, ...]
    roots: tuple[str, ...] = ("src",)  # import roots, relative to the tree; "." = its top
    package: str = ""
    version: str = ""
    sha256: str = ""
    filename: str = ""
    licence: str = ""
    keep: tuple[str, ...] = ("**",)
    drop: tuple[str, ...] = ()

    @property
    def hosted(self) -> bool:
        """True when the tree is a published package instead of a folder of ours."""
        return bool(self.package)

    @model_validator(mode="after")
    def _pinned(self) -> Self:
        if self.package and not (self.version and self.sha256 and self.filename):
            missing = [k for k in ("version", "sha256", "filename") if not getattr(self, k)]
            raise ValueError(f"a hosted fixture must pin {', '.join(missing)}")
        return self


def read_toml(path: Path, model: type[M]) -> M:
    """Parse and validate. Raises TrapError naming the file and the line (syntax) or key (content)."""
    try:
        text = path.read_text(encoding="utf-8")
        if len(text) > MAX_TOML or max(line.count(".") for line in text.split("\n")) > MAX_DOTS:
            raise TrapError(f"{path}: more than {MAX_TOML} characters, or than {MAX_DOTS} dots on a line")
        data = tomllib.loads(text)
    except OSError as error:
        raise TrapError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TrapError(f"{path}: {error}") from error
    except RecursionError as error:
        raise TrapError(f"{path}: nested too deeply to be read") from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise TrapError(f"{path}: {explain(error)}") from error


def explain(error: ValidationError) -> str:
    """Every fault with its key, in one line."""
    found = [(".".join(str(p) for p in e["loc"]), _says(e)) for e in error.errors()]
    return "; ".join(f"{key}: {message}" if key else message for key, message in found)


def _says(fault: ErrorDetails) -> str:
    """The message of one fault; a version that is not known is said in the same words for every format."""
    if fault["type"] == "literal_error" and fault["loc"] and fault["loc"][-1] in ("schema", "schema_version"):
        return f"{repr(fault['input'])[:20]} is not known here (expected {fault['ctx']['expected']})"
    return fault["msg"].removeprefix("Value error, ")
