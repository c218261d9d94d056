"""Sealing: what holds a fact leaves the machine encrypted, under one key for a whole bundle.

AES-256-GCM with the member's name as associated data. The nonce is derived from key, name and content (HMAC-SHA256), so
that freezing the same run twice gives the same bytes and no two different texts ever share a nonce. Digests of sealed
things do not stand in the open: a fact may be one of four words and its digest would tell which. What the public part
has to point at goes under a pseudonym, an HMAC that only the holder of the key can recompute.

Invariant: nothing that depends on a sealed text leaves this file but its ciphertext, its pseudonym and its length.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from harness.bundle.container import BundleError
from harness.outcome import UsageFault
from harness.rundir import replace_file

KEY_BYTES, NONCE_BYTES = 32, 12
_FILE = "seal.key"


@dataclass(frozen=True)
class Seal:
    """The key of one bundle. `repr` does not show it."""

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) != KEY_BYTES:
            raise UsageFault(f"a key to unseal with has {2 * KEY_BYTES} hex digits")

    def _derived(self, use: str) -> bytes:
        return hmac.new(self.key, f"dreambench seal 1 {use}".encode(), hashlib.sha256).digest()

    @property
    def check(self) -> str:
        """Says whether a key is this one, without telling anything of it."""
        return self._derived("check").hex()

    def close(self, name: str, data: bytes) -> bytes:
        """Nonce and ciphertext of a member."""
        inner = hashlib.sha256(data).digest()
        nonce = hmac.new(self._derived("nonce"), name.encode() + b"\0" + inner, hashlib.sha256).digest()[:NONCE_BYTES]
        return nonce + AESGCM(self._derived("encrypt")).encrypt(nonce, data, name.encode())

    def open(self, name: str, data: bytes) -> bytes:
        """Raises BundleError when the member was changed, moved to another name, or sealed with another key."""
        try:
            return AESGCM(self._derived("encrypt")).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], name.encode())
        except (InvalidTag, ValueError):
            raise BundleError(
                f"{name}: does not open with this key (changed, renamed or sealed with another)"
            ) from None

    def pseudonym(self, of: str) -> str:
        """What stands for a digest in the public part (40 hex digits); "" for nothing."""
        if not of:
            return ""
        return hmac.new(self._derived("pseudonym"), of.encode(), hashlib.sha256).hexdigest()[:40]


def run_seal(folder: Path) -> Seal:
    """The key of a run: drawn from the CSPRNG when it is first frozen, then kept in its directory (0600)."""
    path = folder / _FILE
    if path.exists():
        return load_seal(path)
    seal = Seal(secrets.token_bytes(KEY_BYTES))
    try:
        replace_file(path, seal.key.hex().encode() + b"\n", durable=True)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror} (the key of a bundle is kept in the run)") from error
    return seal


def load_seal(path: Path) -> Seal:
    """A key from a file of 64 hex digits. Raises UsageFault."""
    try:
        return Seal(bytes.fromhex(path.read_text(encoding="ascii").strip()))
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageFault(f"{path}: a key to unseal with has {2 * KEY_BYTES} hex digits") from error
