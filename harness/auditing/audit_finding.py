"""What a rule of the audit says.

Invariant: a breach says that the run, as it lies there, cannot be what it claims to be, or that a session saw what it
may not see; everything that a person should look at and that may be innocent is a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from harness.auditing.audit_material import Case, Material
from harness.records import SessionRecord

Level = Literal["breach", "note"]


@dataclass(frozen=True, order=True)
class Finding:
    """`where` names the arm and the session or reader level; `message` may hold text from a sandbox."""

    rule: str
    level: Level
    where: str
    message: str


@dataclass(frozen=True)
class Rule:
    """`asks` is the question in one sentence. `facts`: it cannot be asked where the facts are not there."""

    name: str
    asks: str
    facts: bool
    look: Callable[[Material], Iterator[Finding]]


def at(case: Case, session: SessionRecord) -> str:
    """Where a finding is, in words; also of a further turn."""
    return f"{case.record.arm} S{session.number}" + (f" {session.reader}" if session.reader not in ("", "-") else "")


def sessions(material: Material) -> Iterator[tuple[Case, SessionRecord]]:
    """Every session with its arm."""
    return ((case, session) for case in material.cases for session in case.sessions)
