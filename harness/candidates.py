"""The record of candidates: traps frozen by digest before any memory condition runs on them.

`candidates.jsonl` in the traps folder, one line an act. Lines instead of a table, because a table is rewritten when it
changes, and what was taken out of it is gone; here an amendment can only add. Invariant: lines are only appended; a
frozen digest changes by an amendment with its reason alone, and a file whose lines do not follow from one another is
refused.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from harness.config import RunConfig
from harness.outcome import UsageFault
from harness.plan import Plan, load_oracles
from traps.folds import Digest, member_digest
from traps.load import Trap
from traps.schema import explain

FILE = "candidates.jsonl"
Amendment = Literal["changed", "removed", "restored"]
State = Literal["not frozen", "frozen", "changed since", "not there", "removed"]


class Line(BaseModel):
    """One act: a trap was frozen, or what was frozen was changed, removed or put back. `was` is the digest before.

    `digest` covers trap, fixture and oracle, as in admission and folds; of a removed trap it is the one before.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    act: Literal["frozen", "changed", "removed", "restored"]
    trap: str
    digest: Digest
    was: Digest | None = None
    fixture: str
    fixture_digest: Digest
    reason: str = ""
    at: dt.datetime
    version: str

    @model_validator(mode="after")
    def _reasoned(self) -> Self:
        if (self.act == "frozen") == bool(self.reason.strip()):
            raise ValueError("an amendment has a reason, and freezing has none")
        if (self.act == "frozen") != (self.was is None):
            raise ValueError("an amendment has the digest before it (`was`), and freezing has none")
        return self


@dataclass(frozen=True)
class Candidate:
    """A trap in the record: every line about it, oldest first."""

    lines: tuple[Line, ...]

    @property
    def last(self) -> Line:
        return self.lines[-1]

    @property
    def removed(self) -> bool:
        return self.last.act == "removed"

    @property
    def amendments(self) -> tuple[Line, ...]:
        return self.lines[1:]

    def state(self, digest: str | None) -> State:
        """How the trap of the folder (its digest; None when it is gone) stands to the record."""
        if self.removed:
            return "removed"
        if digest is None:
            return "not there"
        return "frozen" if digest == self.last.digest else "changed since"


Record = Mapping[str, Candidate]  # by trap, in the order in which they were frozen


@dataclass(frozen=True)
class Found:
    """A trap as it is now."""

    digest: str
    fixture: str
    fixture_digest: str


def found(config: RunConfig, traps: Mapping[str, Trap]) -> dict[str, Found]:
    """What would be frozen. Raises UsageFault, SolutionError for a broken oracle folder."""
    oracles = load_oracles(config, traps)
    return {
        name: Found(member_digest(trap.digest, oracles[name].digest), trap.spec.fixture, trap.fixture.digest)
        for name, trap in traps.items()
    }


def read(path: Path) -> dict[str, Candidate]:
    """The record in a file; empty without one. Raises UsageFault naming the line that cannot be or follow."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"{path}: {error}") from error
    told: dict[str, Candidate] = {}
    for number, text in enumerate(lines, 1):
        try:
            line = Line.model_validate_json(text)
        except ValidationError as error:
            raise UsageFault(f"{path}:{number}: {explain(error)}") from error
        before = told.get(line.trap)
        if wrong := _cannot_follow(before, line):
            raise UsageFault(f"{path}:{number}: {line.trap}: {wrong}")
        told[line.trap] = Candidate((*(before.lines if before else ()), line))
    return told


def _cannot_follow(before: Candidate | None, line: Line) -> str:
    """Why this line cannot come after the others about its trap; "" when it can."""
    if before is None:
        return "" if line.act == "frozen" else f"{line.act}, but no line before has frozen it"
    if line.act == "frozen":
        return "frozen twice"
    if before.removed != (line.act == "restored"):
        return f"{line.act}, but it was {before.last.act} before"
    if line.was != before.last.digest:
        return "`was` is not the digest of the line before"
    if line.act == "removed" and line.digest != line.was:
        return "removed with another digest"
    return ""


def freeze(root: Path, there: Mapping[str, Found]) -> tuple[Line, ...]:
    """Freeze the traps that are new; those frozen as they are stay as they are. The lines that were added.

    Raises UsageFault, and adds nothing, when one was frozen with another digest or was removed.
    """
    told = read(root / FILE)
    states = {trap: told[trap].state(now.digest) for trap, now in there.items() if trap in told}
    if other := [f"{trap} ({_difference(told[trap], there[trap])})" for trap, s in states.items() if s != "frozen"]:
        remedy = "remedy: trap candidates amend TRAP changed|restored --reason TEXT"
        raise UsageFault(f"{root / FILE}: not as they were frozen: {', '.join(other)}; nothing was added ({remedy})")
    lines = tuple(_line("frozen", trap, now, None, "") for trap, now in there.items() if trap not in told)
    _append(root / FILE, lines)
    return lines


def amend(root: Path, trap: str, act: Amendment, reason: str, now: Found | None) -> Line:
    """Add an amendment; `now` is the trap as it is, None when its folder is gone.

    Raises UsageFault for one that does not follow from the record, has no reason, or would change nothing.
    """
    told = read(root / FILE).get(trap)
    if told is None:
        raise UsageFault(f"{root / FILE}: {trap} was never frozen, so there is nothing to amend")
    if not reason.strip():
        raise UsageFault(f"{trap}: an amendment has a reason (--reason TEXT)")
    last = told.last
    if act == "removed":
        now = Found(last.digest, last.fixture, last.fixture_digest)
    elif now is None:
        raise UsageFault(f"{trap}: its folder is not there; only `removed` is left")
    elif act == "changed" and now.digest == last.digest:
        raise UsageFault(f"{trap}: it is as it was frozen, so nothing has changed")
    line = _line(act, trap, now, last.digest, reason)
    if wrong := _cannot_follow(told, line):
        raise UsageFault(f"{trap}: {wrong}")
    _append(root / FILE, (line,))
    return line


def states(told: Record, there: Mapping[str, str]) -> dict[str, State]:
    """Every trap of the folder (digest by id) and of the record."""
    known: dict[str, State] = {t: told[t].state(d) if t in told else "not frozen" for t, d in there.items()}
    return known | {t: c.state(None) for t, c in told.items() if t not in there}


def counts(told: Record, there: Mapping[str, str]) -> dict[str, int]:
    """What a funnel says of candidates; nothing while none was frozen."""
    if not told:
        return {}
    acts = {act: sum(any(line.act == act for line in c.lines) for c in told.values()) for act in ("changed", "removed")}
    return {
        "frozen as candidates": len(told),
        "changed by an amendment": acts["changed"],
        "removed by an amendment": acts["removed"],
        "removed now": sum(candidate.removed for candidate in told.values()),
        "changed or gone without an amendment": sum(
            state in ("changed since", "not there") for state in states(told, there).values()
        ),
    }


def of_plan(config: RunConfig, plan: Plan) -> dict[str, State]:
    """How the traps of a plan stand; nothing without a record. Raises UsageFault for a damaged record."""
    told = read(Path(config.traps_dir) / FILE)
    digests = {t: member_digest(trap.digest, plan.oracles[t].digest) for t, trap in plan.traps.items()}
    return {t: state for t, state in states(told, digests).items() if t in digests} if told else {}


def removed(told: Record) -> frozenset[str]:
    """Traps whose last line is a removal."""
    return frozenset(trap for trap, candidate in told.items() if candidate.removed)


def _difference(told: Candidate, now: Found) -> str:
    if told.removed:
        return f"removed on {told.last.at.date()}: {told.last.reason}"
    part = "its fixture" if now.fixture_digest != told.last.fixture_digest else "trap or oracle"
    return f"{part} has changed since {told.last.at.date()}"


def _line(act: Literal["frozen"] | Amendment, trap: str, now: Found, was: str | None, reason: str) -> Line:
    return Line(
        act=act,
        trap=trap,
        digest=now.digest,
        was=was,
        fixture=now.fixture,
        fixture_digest=now.fixture_digest,
        reason=" ".join(reason.split()),
        at=dt.datetime.now(dt.UTC).replace(microsecond=0),
        version=metadata.version("dreambench-swe"),
    )


def _append(path: Path, lines: Sequence[Line]) -> None:
    """Add lines, durably. Raises UsageFault when the file cannot be written."""
    if not lines:
        return
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(line.model_dump_json(exclude_none=True) + "\n" for line in lines))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
