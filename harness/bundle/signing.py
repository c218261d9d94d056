"""Who vouches for a file: Ed25519 keys as PEM files, and signatures over what a file says it is.

Invariant: a signature is over the kind of the document and the sha256 of its bytes, so that one made for a plan is none
for a bundle; a private key is written 0600, never printed, and never put into anything that leaves the machine.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from harness.outcome import UsageFault
from harness.rundir import replace_file

#: What can be signed; part of what is signed.
PLAN, FOLD, AMENDMENT = "plan", "fold", "amendment"


@dataclass(frozen=True)
class PublicKey:
    """Who signed: 32 raw bytes."""

    raw: bytes

    @property
    def fingerprint(self) -> str:
        """sha256 of the raw key, hex."""
        return hashlib.sha256(self.raw).hexdigest()

    def pem(self) -> bytes:
        """The key as a PEM file."""
        key = Ed25519PublicKey.from_public_bytes(self.raw)
        return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def vouches(self, kind: str, data: bytes, signature: bytes) -> bool:
        """Whether `signature` is this key's over a document of that kind."""
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, _statement(kind, data))
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class SigningKey:
    """A private key. `repr` does not show it."""

    _key: Ed25519PrivateKey

    @property
    def public(self) -> PublicKey:
        return PublicKey(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    def sign(self, kind: str, data: bytes) -> bytes:
        """64 bytes, the same for the same key, kind and data."""
        return self._key.sign(_statement(kind, data))

    def __repr__(self) -> str:
        return f"SigningKey(public {self.public.fingerprint[:16]})"


def _statement(kind: str, data: bytes) -> bytes:
    return f"dreambench {kind} 1\n{hashlib.sha256(data).hexdigest()}\n".encode()


def new_key(path: Path) -> SigningKey:
    """Make a key and write it to `path` (0600) and `path`.pub. Raises UsageFault when there is one already."""
    if path.exists():
        raise UsageFault(f"{path}: there is a key already; it is not replaced")
    key = SigningKey(Ed25519PrivateKey.generate())
    pem = key._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, pem, durable=True)
        replace_file(path.with_name(path.name + ".pub"), key.public.pem(), durable=True, mode=0o644)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror} (remedy: name a writable place with --sign)") from error
    return key


def load_key(path: Path) -> SigningKey:
    """A private key from a PEM file. Raises UsageFault."""
    try:
        found = load_pem_private_key(_read(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageFault(f"{path}: no private key in PEM form without a password") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise UsageFault(f"{path}: not an Ed25519 key")
    return SigningKey(found)


def load_public(path: Path) -> PublicKey:
    """A public key from a PEM file; that of a private one is taken too. Raises UsageFault."""
    data = _read(path)
    if b"PRIVATE KEY" in data:
        return load_key(path).public
    try:
        found = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageFault(f"{path}: no public key in PEM form") from error
    if not isinstance(found, Ed25519PublicKey):
        raise UsageFault(f"{path}: not an Ed25519 key")
    return PublicKey(found.public_bytes(Encoding.Raw, PublicFormat.Raw))


def default_key(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the key of this user is kept."""
    base = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base).absolute() / "dreambench" / "signing.pem"


def own_key(path: Path | None) -> tuple[SigningKey, bool]:
    """The key at `path`, or this user's own, made when there is none yet. (key, was it made). Raises UsageFault."""
    place = path or default_key()
    if path is None and not place.exists():
        return new_key(place), True
    return load_key(place), False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
