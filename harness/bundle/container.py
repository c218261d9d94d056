"""The bytes of a bundle: members in a plain tar, in one canonical form.

A bundle can be listed with any tar program, but it is read here by rules of its own, because it comes from a stranger:
every header has to be, byte for byte, the one that this file would write for that name and size. So there is nothing a
link, a device, a second header, a doubled name or an appended byte could hide in, and nothing is extracted by name.

Invariant: `write` gives the same bytes for the same members, and `read` accepts nothing that `write` would not have
written.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.outcome import UsageFault

BLOCK = tarfile.BLOCKSIZE
END = bytes(2 * BLOCK)
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,40}(/[a-z0-9][a-z0-9_.-]{0,40}){0,2}")
MOST_MEMBERS = 20_000
LARGEST = 4 << 30  # bytes of one member
FIRST = ("manifest.json", "signature.json")  # in this order, before all others, which are sorted


class BundleError(Exception):
    """A bundle that is not what it says; the message names what does not hold."""


@dataclass(frozen=True)
class Member:
    """Where the bytes of a member lie in the file."""

    name: str
    start: int
    size: int


def header(name: str, size: int) -> bytes:
    """The one header that a member of this name and size has. Raises BundleError for a name that no member has."""
    if not NAME.fullmatch(name) or not 0 <= size <= LARGEST:
        raise BundleError(f"{name!r} of {size} bytes: no member of a bundle")
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = size, 0o644, 0
    return info.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict")


def order(names: Mapping[str, object] | list[str]) -> list[str]:
    """The order in which members stand."""
    return [n for n in FIRST if n in names] + sorted(n for n in names if n not in FIRST)


def write(out: BinaryIO, members: Mapping[str, bytes | Path]) -> None:
    """Write all members; a Path is copied from a file of ours. Raises OSError, BundleError."""
    for name in order(list(members)):
        body = members[name]
        size = len(body) if isinstance(body, bytes) else body.stat().st_size
        out.write(header(name, size))
        if isinstance(body, bytes):
            out.write(body)
        else:
            with body.open("rb") as source:
                while part := source.read(1 << 20):
                    out.write(part)
        out.write(bytes(-size % BLOCK))
    out.write(END)


class Container:
    """A bundle opened for reading. Only headers are read at first; a member's bytes when they are asked for."""

    def __init__(self, path: Path) -> None:
        """Raises UsageFault for a file that cannot be read, BundleError for one that is not canonical."""
        try:
            self._file = path.open("rb")
            self._size = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror}") from error
        try:
            self.members = {member.name: member for member in self._scan()}
        except BaseException:
            self._file.close()
            raise

    def _scan(self) -> Iterator[Member]:
        at, before = 0, ""
        seen: set[str] = set()
        while True:
            head = self._bytes(at, BLOCK)
            if len(head) < BLOCK:
                raise BundleError(f"cut off at byte {self._size}: a header is missing")
            if head == bytes(BLOCK):
                break
            member = _parsed(head, at)
            if member.name in seen:
                raise BundleError(f"{member.name}: is there twice")
            if len(seen) >= MOST_MEMBERS:
                raise BundleError(f"more than {MOST_MEMBERS} members")
            if before and order([before, member.name])[0] != before:
                raise BundleError(f"{member.name}: stands behind {before}, out of order")
            end = member.start + member.size
            if end + (-member.size % BLOCK) > self._size:
                raise BundleError(f"{member.name}: cut off: {member.size} bytes are announced")
            if any(self._bytes(end, -member.size % BLOCK)):
                raise BundleError(f"{member.name}: bytes are hidden behind its end")
            seen.add(member.name)
            yield member
            at, before = end + (-member.size % BLOCK), member.name
        if self._bytes(at, len(END)) != END:
            raise BundleError("the end is not the one that a bundle has")
        if self._size != at + len(END):
            raise BundleError(f"{self._size - at - len(END)} bytes stand behind the end")

    def read(self, name: str, most: int = LARGEST) -> bytes:
        """The bytes of a member. Raises BundleError when it is missing or larger than `most`."""
        member = self.members.get(name)
        if member is None:
            raise BundleError(f"{name}: is missing")
        if member.size > most:
            raise BundleError(f"{name}: {member.size} bytes, at most {most} are taken")
        return self._bytes(member.start, member.size)

    def parts(self, name: str) -> Iterator[bytes]:
        """The bytes of a member, a MiB at a time."""
        member = self.members[name]
        for at in range(0, member.size, 1 << 20):
            yield self._bytes(member.start + at, min(1 << 20, member.size - at))

    def close(self) -> None:
        self._file.close()

    def _bytes(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        return self._file.read(size)


def _parsed(head: bytes, at: int) -> Member:
    """The member that a header tells of, if it is the canonical one."""
    raw = head[:100].rstrip(b"\0")
    try:
        name, size = raw.decode("ascii"), int(head[124:135], 8)
    except ValueError:
        raise BundleError(f"byte {at}: no header of a bundle") from None
    shown = name if NAME.fullmatch(name) else repr(name[:60])
    kind = head[156:157]
    if kind != b"0":
        what = {b"1": "a hard link", b"2": "a link", b"3": "a device", b"5": "a folder", b"6": "a pipe"}
        raise BundleError(f"{shown}: is {what.get(kind, 'no plain file')}; a bundle holds plain files only")
    if not NAME.fullmatch(name):
        raise BundleError(f"{shown}: a name that no member has (it could lead somewhere else)")
    if header(name, size) != head:
        raise BundleError(f"{shown}: its header is not the canonical one")
    return Member(name, at + BLOCK, size)
