"""Packs: many small things by the sha256 of their bytes, in a few members of a bundle.

    entry = 32 bytes digest, 8 bytes length, bytes

Invariant: entries stand in the order of their digests, each once over all packs of a kind, and what is read has the
digest that it is filed under.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator

from harness.bundle.container import BundleError

PACK = 16 << 20  # bytes after which a new pack is begun
MOST = 512 << 20  # bytes that a member may have once it is unpacked
_HEAD = 40

Body = Callable[[bytes], bytes]


def pack(entries: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """The packs of (digest, stored bytes) pairs, which have to come in order."""
    current = bytearray()
    for digest, data in entries:
        if current and len(current) + len(data) > PACK:
            yield bytes(current)
            current.clear()
        current += digest + len(data).to_bytes(8, "big") + data
    if current:
        yield bytes(current)


def unpack(name: str, data: bytes, after: bytes, body: Body = bytes) -> Iterator[tuple[str, bytes]]:
    """(sha256 in hex, stored bytes) of every entry of one pack, checked; `after` is the last digest before it.

    `body` makes of the stored bytes those that the digest is of. Raises BundleError.
    """
    at, before = 0, after
    while at < len(data):
        digest, size = data[at : at + 32], int.from_bytes(data[at + 32 : at + _HEAD], "big")
        stored = data[at + _HEAD : at + _HEAD + size]
        if len(digest) < 32 or len(stored) < size:
            raise BundleError(f"{name}: cut off inside of an entry")
        if digest <= before:
            raise BundleError(f"{name}: entry {digest.hex()[:16]} is there twice or out of order")
        if hashlib.sha256(body(stored)).digest() != digest:
            raise BundleError(f"{name}: entry {digest.hex()[:16]} is not what its digest says")
        yield digest.hex(), stored
        before, at = digest, at + _HEAD + size


def deflate(data: bytes) -> bytes:
    """The coding of members that are not stored as they are."""
    return zlib.compress(data, 6)


def inflate(name: str, data: bytes, size: int) -> bytes:
    """Exactly `size` bytes. Raises BundleError for anything else, before more than one byte too many is made."""
    if not 0 <= size <= MOST:
        raise BundleError(f"{name}: says that it unpacks to {size} bytes; at most {MOST} are taken")
    machine = zlib.decompressobj()
    try:
        found = machine.decompress(data, size + 1)
    except zlib.error as error:
        raise BundleError(f"{name}: cannot be unpacked ({error})") from None
    if len(found) != size or not machine.eof or machine.unused_data:
        raise BundleError(f"{name}: does not unpack to the {size} bytes that it announces")
    return found
