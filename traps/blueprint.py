"""What each construct is made of: the format of `scaffold/cN.toml` and `scaffold/common.toml`, and an author's wishes.

Invariant: a construct's needs (histories, roles, facts, notes, checks, wrong solutions) stand in its file and nowhere
else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from traps.schema import EventKind, Expect, Role, read_toml

TEMPLATES = Path(__file__).parent / "scaffold"


@dataclass(frozen=True)
class Wanted:
    """What an author says of a new trap. `place` is the file that session 3 changes; "" is the largest module."""

    construct: str
    slug: str
    fixture: str
    skeleton: str
    title: str
    family: str
    evidence: str
    author: str = "human"
    place: str = ""

    @property
    def id(self) -> str:
        return f"{self.construct.lower()}_{self.slug}"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannedFact(_Part):
    """A fact to draw; `@prefix@` in its format is the trap's own."""

    kind: Literal["token", "choice"] = "token"
    format: str = ""
    variants: tuple[str, ...] = ()
    supersedes: str = ""


class Note(_Part):
    """An event, or with `after` 0 a poison note; `roles` by history."""

    id: str
    kind: EventKind
    author: str
    authority: int
    carries: tuple[str, ...] = ()
    text: str
    after: int = 0
    roles: dict[str, Role] = {}
    histories: tuple[str, ...] = ()


class Recall(_Part):
    """What the playbook asks the notes for."""

    name: str
    shape: str


class Check(_Part):
    """A check of the oracle."""

    kind: Literal["requires", "forbids"]
    name: str
    text: str
    body: str
    when: Literal["", "use", "abstain"] = ""


class Solution(_Part):
    """A row of `expect.toml`; with a `hint`, also a stored solution."""

    name: str
    outcome: Literal["pass", "trapped", "failed"]
    history: str = ""
    hint: str = ""


class Plan(_Part):
    """`scaffold/cN.toml`: what a trap of the construct is made of."""

    about: str
    family: str
    evidence: str
    mutated: Literal["trapped", "failed"] = "failed"
    s3: str
    sources: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    generator: tuple[str, ...] = ()
    histories: dict[str, Expect]
    facts: dict[str, PlannedFact]
    event: tuple[Note, ...]
    poison: tuple[Note, ...] = ()
    recall: tuple[Recall, ...]
    check: tuple[Check, ...]
    solution: tuple[Solution, ...]


class Common(_Part):
    """`scaffold/common.toml`: what every scaffold has; a `%` slot is for a number or a name."""

    s1: str
    s2: str
    docstring: str
    jobs: tuple[str, str, str]
    checked: str
    reason: str
    sessions: tuple[str, str, str]
    about: str
    allow: str
    topic: str
    solution: str
    check: tuple[Check, ...]


def plan(construct: str) -> Plan:
    """What the construct (C1 to C10) needs."""
    return read_toml(TEMPLATES / f"{construct.lower()}.toml", Plan)


def common() -> Common:
    """What every scaffold has."""
    return read_toml(TEMPLATES / "common.toml", Common)
