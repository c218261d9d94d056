"""The tables of a bundle that stand in the open, before anything is made of them.

Invariant: a table says each thing once, in the one JSON text that a freeze writes, under keys that are known here; what
the plan means has the types and the size that every later check takes for granted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from analysis.family import FamilyError, family_from_data
from harness.bundle import layout
from harness.bundle.container import BundleError
from harness.bundle.manifest import Digest
from harness.config import PLACES, RunConfig, flatten
from harness.description import Description
from harness.rundir import SCHEMA
from traps.schema import explain

MOST_SEEDS, MOST_ARMS = 10_000, 200_000
_Code = Annotated[str, StringConstraints(min_length=1, max_length=60)]

#: Every key that a table may have; a price, for one, is known nowhere.
KEYS = {
    layout.RUN: frozenset({"schema", "rescored_from", "replay_of", *Description.model_fields}) - {"unpacked"},
    layout.COMMITMENTS: frozenset({"schema", "root", "commitments", "background"}),
    layout.SANDBOXES: frozenset({"schema", "used"}),
    layout.SPENT: frozenset({"schema", "arms"}),
}
TABLES = (*KEYS, layout.ANALYSIS)
_SORTED = (layout.ANALYSIS, layout.SPENT)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Card(_Strict):
    code: str
    title: str
    version: str
    capabilities: list[str]
    needs_model: bool
    instrument: bool
    repaired: bool = False


class _Meaning(_Strict):
    format: Literal[1]
    config: dict[str, object]
    agent: str
    traps: dict[_Code, Digest] = Field(max_length=MOST_ARMS)
    oracles: dict[_Code, Digest] = Field(max_length=MOST_ARMS)
    conditions: dict[_Code, _Card] = Field(max_length=MOST_ARMS)
    fold: dict[str, str] | None = None
    family: dict[str, str] | None = None
    background: dict[str, Digest] | None = None


class _Counts(BaseModel):
    """The part of `meaning.config` that says how many cells there are."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    seeds: int = Field(ge=1, le=MOST_SEEDS)
    first_seed: int = Field(ge=0, le=1 << 31)
    haystack: int = Field(default=0, ge=0, le=MOST_SEEDS)
    conditions: list[str]
    readers: list[str]


class _Commitments(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    root: Digest
    commitments: dict[str, dict[str, Digest]]
    background: dict[str, Digest] = {}


def parsed(name: str, data: bytes) -> dict[str, Any]:
    """A JSON table that says nothing twice, of the version that is known here. Raises BundleError."""
    try:
        found = json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate is no text
    except _Doubled as error:
        raise BundleError(f"{name}: {error}") from None
    except (ValueError, RecursionError):
        raise BundleError(f"{name}: not JSON") from None
    if not isinstance(found, dict):
        raise BundleError(f"{name}: not a table")
    if found.get("schema") != SCHEMA or isinstance(found.get("schema"), bool):
        raise BundleError(f"{name}: schema {repr(found.get('schema'))[:20]} is not known here (expected {SCHEMA})")
    return found


class _Doubled(Exception):
    """One key stands twice in a table."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _Doubled(f"the key {next(n for n in names if names.count(n) > 1)[:40]!r} is there twice")
    return found


def _no_number(word: str) -> float:
    raise ValueError(word)


def open_table(name: str, data: bytes) -> dict[str, Any]:
    """A table that stands in the open. Raises BundleError: as `parsed`, an unknown key, another text than ours."""
    found = parsed(name, data)
    if unknown := sorted(set(found) - KEYS.get(name, found.keys())):
        raise BundleError(f"{name}: {unknown[0][:40]!r} is no key that is known here")
    if _text(name, found) != data:
        raise BundleError(f"{name}: is not in the one form that such a table has")
    if name == layout.RUN:
        _require_meaning(found)
    if name == layout.COMMITMENTS:
        _valid(name, _Commitments, found)
    return found


def _text(name: str, found: Mapping[str, Any]) -> bytes:
    return json.dumps(found, indent=1, sort_keys=name in _SORTED, ensure_ascii=True).encode() + b"\n"


def _require_meaning(run: Mapping[str, Any]) -> None:
    meaning = _valid("run.json: meaning", _Meaning, run.get("meaning"))
    counts = _valid("run.json: meaning.config", _Counts, meaning.config)
    if unknown := sorted(meaning.config.keys() - (flatten(RunConfig().model_dump(by_alias=True)).keys() - PLACES)):
        raise BundleError(f"run.json: meaning.config: {unknown[0][:40]!r} is no key that is known here")
    if list(meaning.conditions) != counts.conditions or set(meaning.traps) != set(meaning.oracles):
        raise BundleError("run.json: meaning: conditions, traps and oracles are not those of its configuration")
    if len(meaning.traps) * counts.seeds * len(meaning.conditions) > MOST_ARMS:
        raise BundleError(f"run.json: meaning: more than {MOST_ARMS} arms")
    _require_family(run.get("family"), meaning.family)


def _require_family(told: object, planned: Mapping[str, str] | None) -> None:
    if planned is None and told is None:
        return
    try:
        if planned is not None and family_from_data(told, "run.json: family").digest == planned.get("digest"):
            return
    except FamilyError as error:
        raise BundleError(str(error)) from None
    raise BundleError("run.json: family: not the one that the plan registers")


def _valid(name: str, model: type[Any], data: object) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BundleError(f"{name}: {explain(error)[:300]}") from None
