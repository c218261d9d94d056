"""run.json: what was resolved when a run was begun, as every reader of a run directory takes it.

Invariant: a key that a reader needs is there or is named; what an older run did not store has a default that says so.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.outcome import UsageFault


class TrapTold(BaseModel):
    """What run.json says of a trap beside its digest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    construct_: str = Field(alias="construct")
    family: str = ""
    fixture: str = ""
    evidence: str = ""
    clean_start: bool | None = None
    poisoned: bool = False
    candidate: str = ""  # how it stood to the record of candidates when the run was begun; "" without a record


class Description(BaseModel):
    """run.json: what was resolved when the run was begun."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    label: str
    config: dict[str, Any]
    plan_digest: str
    draw_digest: str
    meaning: dict[str, Any]
    arms: int
    arms_by_condition: dict[str, int]
    readers: tuple[str, ...]
    begun: str = ""
    draw_reused: bool | None = None
    python: str = ""
    dreambench: str = ""
    constructs: dict[str, str] = {}
    unpacked: str = ""  # root of the bundle that this directory was unpacked from: it is somebody else's
    traps_told: dict[str, TrapTold] = {}  # absent in older runs
    family: dict[str, Any] | None = None  # what was registered, whole
    follows: dict[str, Any] | None = None  # the frozen plan (`preregister.Follows`); None: nothing was frozen

    @model_validator(mode="after")
    def _says_who(self) -> Self:
        if not isinstance(self.meaning.get("agent"), str):
            raise ValueError("meaning.agent is missing")
        return self

    def require_own(self, what: str) -> None:
        """Raises UsageFault for a run that came out of a bundle: what a stranger made is opened in a sandbox only."""
        if self.unpacked:
            raise UsageFault(f"{what}: this run was unpacked from a bundle, and what somebody else made is not opened "
                             "here (remedy: dreambench replay --read rebuilds views in a sandbox)")  # fmt: skip

    @property
    def agent(self) -> str:
        """The card of who did the work."""
        return str(self.meaning["agent"])
