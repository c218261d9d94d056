"""A bundle opened for reading: its members by name, checked against the manifest, unsealed and unpacked on demand.

Invariant: no byte of a member is used before its digest has been compared with the manifest; what a member unpacks to
is bounded by what the manifest announces, and that by a cap of ours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from harness.bundle import layout
from harness.bundle.container import FIRST, BundleError, Container
from harness.bundle.manifest import (
    MANIFEST,
    SIGNATURE,
    Manifest,
    Signature,
    Told,
    read_manifest,
    read_signature,
)
from harness.bundle.packs import MOST, Body, inflate, unpack
from harness.bundle.seal import Seal
from harness.bundle.signing import FOLD, PublicKey
from harness.outcome import UsageFault

_HEAD = 16 << 20  # bytes of the manifest and of the signature
ALL = 4 << 30  # bytes that all members together may unpack to


@dataclass
class Bundle:
    """Use `Bundle.open`. `seal` is the key that the bundle holds or that was given; None: what is sealed stays so."""

    path: Path
    container: Container
    manifest: Manifest
    signature: Signature
    raw_manifest: bytes
    seal: Seal | None = None

    @staticmethod
    def open(path: Path, seal: Seal | None = None) -> Bundle:
        """Raises UsageFault for a file that cannot be read, BundleError for one that is no whole bundle."""
        box = Container(path)
        try:
            raw = box.read(MANIFEST, _HEAD)
            found = Bundle(path, box, read_manifest(raw), read_signature(box.read(SIGNATURE, _HEAD)), raw)
            found._require_named()
            found._take(seal)
        except BaseException:
            box.close()
            raise
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The members that the manifest names, in order."""
        return tuple(told.name for told in self.manifest.members)

    @property
    def signer(self) -> PublicKey:
        return self.signature.key

    @property
    def signed(self) -> bool:
        """Whether the signature holds, whoever made it."""
        return self.signer.vouches(FOLD, self.raw_manifest, bytes.fromhex(self.signature.signature))

    def require_signed(self) -> None:
        """Raises BundleError when the signature does not hold: nobody vouches for such a file, not even a stranger."""
        if not self.signed:
            raise BundleError("the signature is not one over this manifest")

    def has(self, name: str) -> bool:
        return name in self.container.members

    def get(self, name: str) -> bytes:
        """The plain bytes of a member. Raises BundleError; UsageFault for a sealed one without the key."""
        told = self.manifest.told(name)
        return self._opened(told, self.stored(told))

    def stored(self, told: Told) -> bytes:
        """The bytes of a member as they stand in the file, checked."""
        data = self.container.read(told.name, MOST)
        if len(data) != told.size or hashlib.sha256(data).hexdigest() != told.sha256:
            raise BundleError(f"{told.name}: is not what the manifest says (its digest differs)")
        return data

    def unchanged(self, told: Told) -> bool:
        """Whether a member has the size and the digest that the manifest says; read a MiB at a time."""
        if self.container.members[told.name].size != told.size:
            return False
        total = hashlib.sha256()
        for part in self.container.parts(told.name):
            total.update(part)
        return total.hexdigest() == told.sha256

    def packs(self, kind: str, body: Body = bytes) -> Iterator[tuple[str, bytes]]:
        """(sha256, stored bytes) of every entry in all packs of a kind. Raises BundleError."""
        last = b""
        for name in self.names:
            if name.startswith(f"{kind}-"):
                for digest, data in unpack(name, self.get(name), last, body):
                    yield digest, data
                    last = bytes.fromhex(digest)

    def close(self) -> None:
        self.container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self, told: Told, data: bytes) -> bytes:
        if told.sealed:
            if self.seal is None:
                raise UsageFault(f"{told.name}: is sealed (remedy: --unseal KEYFILE)")
            data = self.seal.open(told.name, data)
        data = inflate(told.name, data, told.plain) if told.packed else data
        if len(data) != told.plain:
            raise BundleError(f"{told.name}: has {len(data)} bytes where {told.plain} are announced")
        return data

    def _require_named(self) -> None:
        """Manifest and file name the same members, once each, known ones, coded as such members are."""
        names = list(self.names)
        if len(set(names)) != len(names) or sorted(names) != names:
            raise BundleError(f"{MANIFEST}: members are named twice or out of order")
        there = [name for name in self.container.members if name not in FIRST]
        if extra := sorted(set(there) - set(names)):
            raise BundleError(f"{extra[0]}: stands in the file and not in the manifest")
        if lost := [name for name in (*names, *layout.NEEDED, layout.PAGE) if name not in there]:
            raise BundleError(f"{lost[0]}: is missing")
        if strange := layout.strange(names):
            raise BundleError(f"{strange[0]}: no member of a bundle has this name")
        for told in self.manifest.members:
            if layout.coding(told.name) != layout.Coding(told.sealed, told.packed):
                raise BundleError(f"{told.name}: is said to be stored as no such member is")
        if sum(told.plain for told in self.manifest.members) > ALL:
            raise BundleError(f"{MANIFEST}: the members would unpack to more than {ALL >> 30} GiB")

    def _take(self, given: Seal | None) -> None:
        found = given
        if found is None and self.has(layout.KEY):
            try:
                found = Seal(bytes.fromhex(self.get(layout.KEY).decode("ascii").strip()))
            except (ValueError, UsageFault):
                raise BundleError(f"{layout.KEY}: is no key") from None
            if self.get(layout.KEY) != found.key.hex().encode() + b"\n":
                raise BundleError(f"{layout.KEY}: is not in the one form that a key has")
        if found is not None and found.check != self.manifest.seal:
            if given is not None:
                raise UsageFault(f"{self.path}: the key does not open this bundle")
            raise BundleError(f"{layout.KEY}: is not the key of this bundle")
        self.seal = found
