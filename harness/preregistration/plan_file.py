"""The files of a preregistration: the plan, signed before the first session, and every later change to it.

    plan.json        {"schema": 1, "plan": {...}, "signer": raw key, "signature"}, one canonical JSON text, public
    amendments.json  {"schema": 1, "amendments": [{"amendment": {...}, "signer", "signature"}, ...]}

An amendment holds the sha256 of the one before it (the first: of plan.json), the keys of the plan that it changes with
their new values, and the same in words. Invariant: a plan that loads was signed as it stands by the key that it names,
and its digests are of what stands beside them. No host path, user or private key is in either file. The dates are the
signer's word.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from analysis.family import FamilyError, family_from_data
from harness.bundle.manifest import Digest, canonical
from harness.bundle.signing import AMENDMENT, PLAN, PublicKey
from harness.outcome import REJECTED, UsageFault
from traps import facts
from traps.schema import explain

SCHEMA = 1
_LARGEST = 64 << 20  # bytes of either file
_DEEPEST = 32  # tables in tables


def _dated(text: str) -> str:
    if dt.datetime.fromisoformat(text).utcoffset() != dt.timedelta(0):
        raise ValueError("a date is told in UTC")
    return text


Date = Annotated[
    str, StringConstraints(pattern=r"^[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}\+00:00$"), AfterValidator(_dated)
]  # seconds
Signed = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]
#: One line that fits a cell of a report whole.
Reason = Annotated[str, StringConstraints(pattern=r"^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*\S)?$", max_length=150)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Prompts(_Model):
    """sha256 of the texts that an agent is given: by trap and session number, and what introduces the notes."""

    sessions: dict[str, dict[str, Digest]]
    memory_instruction: Digest


class SandboxTold(_Model):
    """`says`: what the sandbox told of itself."""

    kind: str
    says: dict[str, str]


class DrawTold(_Model):
    digest: Digest
    reused: bool  # the facts are those of another run


class ArmsTold(_Model):
    number: int = Field(ge=1)
    sha256: Digest  # over the sorted arm ids, one a line


class PlanBody(_Model):
    """What is signed. `code` is the digest of our program files; `models` and `prices` hold nothing yet."""

    frozen: Date
    plan_digest: Digest
    meaning: dict[str, Any]
    family: dict[str, Any] | None
    prompts: Prompts
    models: dict[str, Any] = Field(max_length=0)
    prices: None
    sandbox: SandboxTold
    code: Digest
    dreambench: str
    python: str
    draw: DrawTold
    commitments: dict[str, dict[str, Digest]]
    background: dict[str, Digest]
    arms: ArmsTold

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """Digests are of what stands beside them."""
        if hashlib.sha256(canonical(self.meaning)).hexdigest() != self.plan_digest:
            raise ValueError("plan_digest is not that of the meaning")
        leaves = [c for each in self.commitments.values() for c in each.values()]
        if facts.merkle_root([*leaves, *self.background.values()]) != self.draw.digest:
            raise ValueError("draw.digest is not that of the commitments")
        _same_family(self.meaning.get("family"), self.family)
        return self


class AmendmentBody(_Model):
    """What is signed. `begun` counts the arms of which something was committed; `previous` is a sha256."""

    number: int = Field(ge=1)
    date: Date
    reason: Reason
    previous: Digest
    begun: int = Field(ge=0)
    differing: list[str]
    changed: dict[str, Any] = Field(min_length=1)


class _Amendment(_Model):
    amendment: AmendmentBody
    signer: Digest
    signature: Signed


class _AmendmentFile(_Model):
    schema_: Literal[1] = Field(alias="schema")
    amendments: list[_Amendment]


class _PlanFile(_Model):
    schema_: Literal[1] = Field(alias="schema")
    plan: PlanBody
    signer: Digest
    signature: Signed


@dataclass(frozen=True)
class Frozen:
    """A plan whose signature holds. `body` is `plan` as JSON has it; `sha256` is of the bytes of plan.json."""

    plan: PlanBody
    body: Mapping[str, Any]
    signer: PublicKey
    sha256: str


@dataclass(frozen=True)
class Amendment:
    """One entry of amendments.json; that its signature holds is for `preregister.check_chain` to say."""

    body: AmendmentBody
    raw: Mapping[str, Any]  # the entry as JSON has it

    @property
    def signer(self) -> PublicKey:
        return PublicKey(bytes.fromhex(self.raw["signer"]))

    @property
    def sha256(self) -> str:
        return hashlib.sha256(canonical(self.raw)).hexdigest()

    @property
    def signed(self) -> bool:
        """Whether it is as the key that it names signed it."""
        return self.signer.vouches(AMENDMENT, canonical(self.raw["amendment"]), bytes.fromhex(self.raw["signature"]))


def load_frozen(path: Path) -> Frozen:
    """A plan.json. Raises UsageFault: unreadable, an unknown version, malformed, a signature that does not hold."""
    return parse_frozen(_read(path), str(path))


def parse_frozen(data: bytes, where: str) -> Frozen:
    """The same from bytes; `where` names them in messages."""
    raw = _table(data, where)
    try:
        found = _PlanFile.model_validate(raw)
    except ValidationError as error:
        raise UsageFault(f"{where}: not a frozen plan: {explain(error)[:400]}") from None
    signer = PublicKey(bytes.fromhex(found.signer))
    if not signer.vouches(PLAN, canonical(raw["plan"]), bytes.fromhex(found.signature)):
        raise UsageFault(f"{where}: the signature does not hold: edited after it was signed", REJECTED)
    return Frozen(found.plan, raw["plan"], signer, hashlib.sha256(data).hexdigest())


def load_amendments(path: Path) -> tuple[Amendment, ...]:
    """An amendments.json, () where there is none. Raises UsageFault: unreadable, unknown version, malformed."""
    return parse_amendments(_read(path), str(path)) if path.exists() else ()


def parse_amendments(data: bytes, where: str) -> tuple[Amendment, ...]:
    """The same from bytes; `where` names them in messages."""
    raw = _table(data, where)
    try:
        found = _AmendmentFile.model_validate(raw)
    except ValidationError as error:
        raise UsageFault(f"{where}: no list of amendments: {explain(error)[:400]}") from None
    return tuple(Amendment(a.amendment, entry) for a, entry in zip(found.amendments, raw["amendments"], strict=True))


def _same_family(planned: Any, told: Mapping[str, Any] | None) -> None:
    """Raises ValueError when the family told whole is not the one of which the meaning has the digest."""
    if planned is None and told is None:
        return
    try:
        family = family_from_data(told)
    except FamilyError as error:
        raise ValueError(str(error)) from error
    if not isinstance(planned, dict) or family.digest != planned.get("digest"):
        raise ValueError("family is not the one that the meaning registers")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise UsageFault(f"{path}: larger than any plan ({_LARGEST} bytes)")
    return data


def _table(data: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise UsageFault(f"{where}: damaged: not JSON") from None
    if not isinstance(found, dict):
        raise UsageFault(f"{where}: damaged: not a table")
    if found.get("schema") != SCHEMA:
        raise UsageFault(f"{where}: schema {str(found.get('schema'))[:20]!r} is not known here (expected {SCHEMA})")
    if _deeper(found, _DEEPEST):
        raise UsageFault(f"{where}: damaged: nested deeper than any plan")
    if not _as_written(found, data):
        raise UsageFault(f"{where}: not in the one form in which it is written: edited", REJECTED)
    return found


def _as_written(found: Mapping[str, Any], data: bytes) -> bool:
    try:
        return canonical(found) == data
    except ValueError:  # a number that JSON does not have
        return False


def _deeper(data: object, levels: int) -> bool:
    if isinstance(data, dict):
        return levels == 0 or any(_deeper(each, levels - 1) for each in data.values())
    return isinstance(data, list) and (levels == 0 or any(_deeper(each, levels - 1) for each in data))
