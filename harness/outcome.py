"""Outcomes, causes and boundaries: the one vocabulary in which everything that happens to an arm is told.

Invariant: every arm ends in exactly one outcome; what an agent can cause is never `invalid`, what we cause is never
`failed`; the table `BOUNDARIES` alone decides what is retried, what counts and which exit code follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    PASS = "pass"
    TRAPPED = "trapped"
    FAILED = "failed"
    INVALID = "invalid"
    UNAVAILABLE = "unavailable"


class Boundary(StrEnum):
    """Where an error comes from."""

    CONFIG = "config"
    TRAP = "trap"
    SANDBOX = "sandbox"
    AGENT = "agent"
    MEMORY = "memory"
    MODEL = "model"
    ORACLE = "oracle"
    LEDGER = "ledger"
    HARNESS = "harness"  # an error that no room foresaw


#: Exit codes of the command line.
COMPLETE, USAGE, INCOMPLETE, REJECTED, INTERRUPTED = 0, 1, 2, 3, 130


@dataclass(frozen=True)
class Policy:
    """What follows from an error: is the arm owed again, does it count in rates, which exit code."""

    outcome: Outcome | None  # None: nothing runs
    owed: bool
    counts: bool
    exit_code: int


_OURS = Policy(Outcome.INVALID, owed=True, counts=False, exit_code=INCOMPLETE)
BOUNDARIES: dict[Boundary, Policy] = {
    Boundary.CONFIG: Policy(None, owed=False, counts=False, exit_code=USAGE),
    Boundary.TRAP: _OURS,
    Boundary.SANDBOX: _OURS,
    Boundary.AGENT: Policy(Outcome.FAILED, owed=False, counts=True, exit_code=COMPLETE),
    Boundary.MEMORY: _OURS,
    Boundary.MODEL: _OURS,
    Boundary.ORACLE: _OURS,
    Boundary.LEDGER: _OURS,
    Boundary.HARNESS: _OURS,
}


class Fault(Exception):
    """An error with its boundary: the only exception that crosses from an arm to the driver."""

    def __init__(self, boundary: Boundary, reason: str) -> None:
        super().__init__(f"{boundary.value}: {reason}")
        self.boundary = boundary
        self.reason = reason


class UsageFault(Exception):
    """Something the person at the command line can mend: one message, exit code 1 unless said otherwise."""

    def __init__(self, message: str, exit_code: int = USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


#: Words for causes that are not an oracle check.
NO_EDIT = "no edit"
CAPTURE_LIMIT = "capture limit"
FORBIDDEN_PATH = "forbidden path"
TIMEOUT = "timeout"
CHOKED = "oracle choked"
ERRORS = "errors"  # the endpoint answered what the agent sent by nothing but errors, and anything else well
#: A limit of the session's model use that was reached -> the word for it.
MODEL_LIMITS = {"calls": "calls limit", "tokens": "tokens limit", "cost": "cost limit", ERRORS: "request errors"}
STOPPED = (TIMEOUT, *MODEL_LIMITS.values())  # what may have ended a session early; stands before the cause
