"""`family.toml`: what a run registers before it starts, as pydantic models, and the families that are shipped.

Invariant: a family that loaded is complete and consistent (ids are unique, one primary contrast, no contrast twice in
either direction), and its digest changes with every registered word, so it can be hashed into a plan. One that
registers nothing is never loaded: only `Family.unregistered` makes it.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from analysis.explain import explain
from analysis.records import Endpoint

SHIPPED = ("quick", "p-family", "family-a", "family-b")


class FamilyError(ValueError):
    """A family file that cannot be used; the message names the file and the key."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Contrast(_Strict):
    """One registered slot: `first` against `second`. `unavailable` says why it can never be filled ("" if it can)."""

    id: str = Field(min_length=1)
    first: str = Field(min_length=1)
    second: str = Field(min_length=1)
    primary: bool = False
    unavailable: str = ""


class Gates(_Strict):
    """Bounds of the validity gates; shares are 0..1. See `analysis.gates`."""

    baseline: str = "B0"
    headroom: float = Field(default=0.50, ge=0, le=1)
    headroom_preferred: float = Field(default=0.40, ge=0, le=1)
    warmup: float = Field(default=0.80, ge=0, le=1)
    min_traps: int = Field(default=54, ge=1)
    min_paired_seeds: int = Field(default=2, ge=1)
    max_excluded: float = Field(default=0.05, ge=0, le=1)
    stratum_best: float = Field(default=0.15, ge=0, le=1)
    poison: str = "POISON"
    poison_max: float = Field(default=0.50, ge=0, le=1)


class Bound(_Strict):
    """What a metric of a condition must keep: exactly one of the four.

    `at_most` / `at_least`: a number. `no_worse_than`: a condition whose value must not be exceeded (for metrics where
    low is good). `below`: a condition that it may fall short of by `by` at most.
    """

    metric: str = Field(min_length=1)
    condition: str = Field(min_length=1)
    at_most: float | None = None
    at_least: float | None = None
    no_worse_than: str | None = None
    below: str | None = None
    by: float | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [v for v in (self.at_most, self.at_least, self.no_worse_than, self.below) if v is not None]
        if len(given) != 1 or (self.by is None) != (self.below is None):
            raise ValueError("give exactly one of at_most, at_least, no_worse_than, or below with by")
        return self


class Falsifier(_Strict):
    """Bounds that must all hold, or the claim is withdrawn."""

    id: str = Field(min_length=1)
    claim: str = Field(min_length=1)
    bound: tuple[Bound, ...] = Field(min_length=1, strict=False)


class Family(_Strict):
    """A registered family: contrasts under one Holm adjustment at `alpha`, on the primary `endpoint`.

    `traps` and `seeds`, if given, are what the data must have.
    """

    # no part of what is registered: a digest is over what the file says, not over how it is written down
    schema_: Literal[1] = Field(default=1, alias="schema", exclude=True)
    name: str = Field(min_length=1)
    about: str = ""
    endpoint: Endpoint = "main"
    alpha: float = Field(default=0.05, gt=0, lt=1)
    traps: int | None = Field(default=None, ge=2)
    seeds: tuple[int, ...] = Field(default=(), strict=False)
    construct_mix: dict[str, int] = Field(default_factory=dict)
    gates: Gates = Gates()
    contrast: tuple[Contrast, ...] = Field(min_length=1, strict=False)
    falsifier: tuple[Falsifier, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [c.id for c in self.contrast]
        pairs = [frozenset((c.first, c.second)) for c in self.contrast]
        falsifiers = [f.id for f in self.falsifier]
        if len(set(ids)) < len(ids) or len(set(falsifiers)) < len(falsifiers):
            raise ValueError("an id occurs twice")
        if any(len(pair) == 1 for pair in pairs):
            raise ValueError("a contrast compares a condition with itself")
        if len(set(pairs)) < len(pairs):
            raise ValueError("two contrasts compare the same conditions")
        if sum(c.primary for c in self.contrast) > 1:
            raise ValueError("more than one primary contrast")
        if any(share < 1 for share in self.construct_mix.values()):
            raise ValueError("construct_mix holds numbers of traps, 1 or more")
        return self

    @classmethod
    def unregistered(cls, endpoint: Endpoint = "main", gates: Gates | None = None) -> Self:
        """What stands for a family where nothing was registered: no slot and no falsifier, all is exploratory."""
        # not validated: to register nothing is an error everywhere else
        return cls.model_construct(name="", endpoint=endpoint, gates=gates or Gates(), contrast=())

    @property
    def conditions(self) -> tuple[str, ...]:
        """Every condition that is named, in order: by contrasts that can be filled, falsifiers, and the baseline."""
        named = [self.gates.baseline]
        named += [code for c in self.contrast if not c.unavailable for code in (c.first, c.second)]
        for bound in (b for f in self.falsifier for b in f.bound):
            named += [code for code in (bound.condition, bound.no_worse_than, bound.below) if code]
        return tuple(dict.fromkeys(named))

    @property
    def primary(self) -> Contrast | None:
        """The headline contrast; None in a family whose slots are all alike."""
        return next((c for c in self.contrast if c.primary), None)

    @property
    def digest(self) -> str:
        """sha256 of the canonical JSON of everything registered, 64 hex digits."""
        text = json.dumps(self.as_data(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def as_data(self) -> dict[str, Any]:
        """Everything registered as JSON takes it; `family_from_data` reads it back with the same digest."""
        return self.model_dump(mode="json")

    def registers(self, first: str, second: str) -> bool:
        """Is the comparison of the two in the family, in either direction?"""
        return any({c.first, c.second} == {first, second} for c in self.contrast)


def parse_family(text: str, where: str = "family") -> Family:
    """A family from TOML text. Raises FamilyError naming `where` and each wrong key."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FamilyError(f"{where}: {error}") from error
    return family_from_data(data, where)


def family_from_data(data: object, where: str = "family") -> Family:
    """A family from plain data. Raises FamilyError naming `where` and each wrong key."""
    try:
        return Family.model_validate(data)
    except ValidationError as error:
        raise FamilyError(f"{where}: {explain(error)}") from error


def load_family(path: Path) -> Family:
    """A family from a file. Raises FamilyError also when the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FamilyError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FamilyError(f"{path}: {error}") from error
    return parse_family(text, str(path))


def shipped_family(name: str) -> Family:
    """A family that is shipped, by its name in SHIPPED. Raises FamilyError for any other name."""
    if name not in SHIPPED:
        raise FamilyError(f"no shipped family {name!r} (there are {', '.join(SHIPPED)})")
    text = resources.files("analysis").joinpath("families", f"{name}.toml").read_text(encoding="utf-8")
    return parse_family(text, f"{name}.toml")


def find_family(word: str) -> Family:
    """A shipped family by name, else the file at that path. Raises FamilyError."""
    return shipped_family(word) if word in SHIPPED else load_family(Path(word))
