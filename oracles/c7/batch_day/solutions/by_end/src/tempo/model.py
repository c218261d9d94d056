"""What a job is and how a run of it can end."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tempo.backoff import Backoff
from tempo.schedule import Schedule

DEFAULT_QUEUE = "default"
DEFAULT_TIMEOUT = 300.0


class Outcome(StrEnum):
    """How a run ended, after its last attempt."""

    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True)
class Job:
    """One job of the file.

    `timeout` is in seconds and holds for each attempt, not for the run.
    """

    name: str
    schedule: Schedule
    command: tuple[str, ...]
    queue: str = DEFAULT_QUEUE
    timeout: float = DEFAULT_TIMEOUT
    retry: Backoff = field(default_factory=Backoff)
    env: dict[str, str] = field(default_factory=dict)
    enabled: bool = True
    batch: bool = False
