"""The record of admission: every check that was meant to admit a trap, whatever it said.

`admission.jsonl` in the traps folder, one line an attempt. Invariant: lines are only appended; a trap is admitted when
its newest line has no problem and tells of the trap as it is now, so an edited trap has to be admitted again, and what
was rejected stays to be counted.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.admission import Report
from harness.outcome import UsageFault
from oracles.folder import OracleFolder
from traps.folds import member_digest
from traps.gates import Problem
from traps.load import Trap
from traps.schema import explain

FILE = "admission.jsonl"
Standing = Literal["admitted", "changed since", "rejected", "not tried"]


class Found(BaseModel):
    """A problem as it was reported."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gate: str
    where: str
    message: str


class Attempt(BaseModel):
    """One line: what was looked at, by which version, and what was found."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    trap: str
    digest: str  # over trap, fixture and oracle, as in a fold
    construct_: str
    fixture: str
    skeleton: str
    at: str
    version: str
    problems: tuple[Found, ...]
    evidence: tuple[str, ...]

    @property
    def admitted(self) -> bool:
        return not self.problems

    @property
    def gate(self) -> str:
        """The first gate that rejected it; "" when none did."""
        return self.problems[0].gate if self.problems else ""


def attempt(trap: Trap, oracle: OracleFolder, report: Report) -> Attempt:
    """The line for a report. Times are UTC, to the second."""
    return Attempt(
        trap=trap.id,
        digest=member_digest(trap.digest, oracle.digest),
        construct_=trap.construct,
        fixture=trap.spec.fixture,
        skeleton=trap.spec.skeleton,
        at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        version=metadata.version("dreambench-swe"),
        problems=tuple(_found(problem) for problem in report.problems),
        evidence=report.evidence,
    )


def _found(problem: Problem) -> Found:
    return Found(gate=problem.gate, where=problem.where, message=problem.message)


def append(root: Path, line: Attempt) -> None:
    """Add one line, durably. Raises UsageFault when the file cannot be written."""
    try:
        with (root / FILE).open("a", encoding="utf-8") as file:
            file.write(line.model_dump_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UsageFault(f"{root / FILE}: {error.strerror}") from error


def attempts(root: Path) -> list[Attempt]:
    """Every line, oldest first; none without a file. Raises UsageFault naming the line that cannot be read."""
    path = root / FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"{path}: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(Attempt.model_validate_json(line))
        except ValidationError as error:
            raise UsageFault(f"{path}:{number}: {explain(error)}") from error
    return found


def standing(digests: Mapping[str, str], told: Sequence[Attempt]) -> dict[str, Standing]:
    """How each trap (digest by id) stands by its newest line."""
    newest = {line.trap: line for line in told}
    return {trap: _standing(digest, newest.get(trap)) for trap, digest in digests.items()}


def _standing(digest: str, line: Attempt | None) -> Standing:
    if line is None:
        return "not tried"
    if line.digest != digest:
        return "changed since"
    return "admitted" if line.admitted else "rejected"


def funnel(told: Sequence[Attempt], there: Mapping[str, Standing]) -> dict[str, int]:
    """Traps by how they went: `authored` (found or in the record), by gate those that it ever rejected, `admitted`."""
    counts = {"authored": len({line.trap for line in told} | set(there))}
    rejected: dict[str, set[str]] = {}
    for line in told:
        for problem in line.problems:
            rejected.setdefault(problem.gate, set()).add(line.trap)
    counts |= {f"rejected by {gate}": len(traps) for gate, traps in sorted(rejected.items())}
    return counts | {"admitted": sum(state == "admitted" for state in there.values())}
