"""The manifest of a bundle: every member with its digest, one Merkle root over all of them, and who signed it.

Invariant: a member that the manifest does not name, or names otherwise than it is, makes the bundle invalid; a version
of the format that is not known is refused and never guessed at.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from harness.bundle.container import FIRST, BundleError
from harness.bundle.signing import FOLD, PublicKey, SigningKey
from traps.schema import explain

SCHEMA = 1
MANIFEST, SIGNATURE = FIRST
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Told(_Model):
    """One member. `sha256` is of the bytes as they stand in the file; `plain` counts them opened and unpacked."""

    name: str
    size: int = Field(ge=0)
    sha256: Digest
    plain: int = Field(ge=0)
    sealed: bool
    packed: bool


class Manifest(_Model):
    """manifest.json."""

    schema_: Literal[1] = Field(alias="schema")
    format: Literal["dreambench fold"]
    dreambench: str
    code: Digest  # of the program that froze it: another one may word a report otherwise
    seal: Digest  # says which key opens the sealed members, and nothing of it
    root: Digest
    members: tuple[Told, ...] = Field(strict=False)

    def told(self, name: str) -> Told:
        """Raises BundleError for a member that is not named."""
        found = next((m for m in self.members if m.name == name), None)
        if found is None:
            raise BundleError(f"{name}: is missing")
        return found


class Signature(_Model):
    """signature.json: an Ed25519 signature over the bytes of manifest.json."""

    schema_: Literal[1] = Field(alias="schema")
    signer: Digest  # the raw public key
    signature: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]

    @property
    def key(self) -> PublicKey:
        return PublicKey(bytes.fromhex(self.signer))


def merkle(members: Sequence[Told]) -> str:
    """The root over the members in order: so that one member can be shown to belong to a bundle without the others."""
    level = [hashlib.sha256(b"\x00" + m.model_dump_json().encode()).digest() for m in members]
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\x01" + p[0] + p[1]).digest() if len(p) == 2 else p[0] for p in pairs]
    return level[0].hex() if level else hashlib.sha256(b"").hexdigest()


def canonical(data: Mapping[str, object]) -> bytes:
    """The one JSON text of a table: sorted keys, no blanks, ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def make(members: Sequence[Told], seal: str, dreambench: str, code: str, key: SigningKey) -> dict[str, bytes]:
    """manifest.json and signature.json for members in order."""
    rows = [m.model_dump() for m in members]
    told = {"schema": SCHEMA, "format": "dreambench fold", "dreambench": dreambench, "code": code, "seal": seal}
    manifest = canonical({**told, "root": merkle(members), "members": rows})
    signed = {"schema": SCHEMA, "signer": key.public.raw.hex(), "signature": key.sign(FOLD, manifest).hex()}
    return {MANIFEST: manifest, SIGNATURE: canonical(signed)}


def read_manifest(data: bytes) -> Manifest:
    """Raises BundleError: unknown version, malformed, not canonical, a root that is not that of the members."""
    raw = _table(MANIFEST, data)
    try:
        found = Manifest.model_validate(raw)
    except ValidationError as error:
        raise BundleError(f"{MANIFEST}: {explain(error)[:300]}") from None
    if canonical(raw) != data:
        raise BundleError(f"{MANIFEST}: is not in its canonical form")
    if merkle(found.members) != found.root:
        raise BundleError(f"{MANIFEST}: the root is not that of the members")
    return found


def read_signature(data: bytes) -> Signature:
    """Raises BundleError."""
    raw = _table(SIGNATURE, data)
    try:
        found = Signature.model_validate(raw)
    except ValidationError as error:
        raise BundleError(f"{SIGNATURE}: {explain(error)[:300]}") from None
    if canonical(raw) != data:
        raise BundleError(f"{SIGNATURE}: is not in its canonical form")
    return found


def _table(name: str, data: bytes) -> dict[str, object]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise BundleError(f"{name}: not JSON") from None
    if not isinstance(found, dict):
        raise BundleError(f"{name}: not a table")
    if found.get("schema") != SCHEMA:
        raise BundleError(f"{name}: schema {str(found.get('schema'))[:20]!r} is not known here (expected {SCHEMA})")
    return found
