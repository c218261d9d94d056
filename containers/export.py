"""Bounded export of a tree that somebody hostile wrote, as a tar stream.

The walk goes by directory descriptors, follows no link, opens nothing but regular files and directories, and
stops at the caps of a `Budget`.

Invariant: what is written is a function of the tree alone (sorted members, no times, no owners, modes 644 and
755), and whatever is left out is listed in the budget's `dropped`.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import IO

from containers.sandbox import Dropped, Limits

MAX_DEPTH = 128  # directories below each other; one descriptor is open for each
MAX_PATH = 4000  # bytes of a path in the tree
MAX_LISTED = 1000  # entries of `dropped`; the rest is summed up in one more

_SPECIAL = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}


def shown(path: str) -> str:
    """A path as backslash-escaped UTF-8, fit for a log."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass
class Budget:
    """What may still be exported, shared by all trees of one run; collects what was dropped."""

    files: int  # entries
    file: int  # bytes of one file
    total: int  # bytes
    dropped: list[Dropped] = field(default_factory=list)
    unlisted: int = 0

    @classmethod
    def of(cls, limits: Limits) -> Budget:
        """The budget that `limits` grants to one run."""
        return cls(limits.export_files, limits.export_file, limits.export_total)

    def drop(self, path: str, why: str, cap: bool = False) -> None:
        """Note an entry that does not travel. Caps are always listed, other kinds up to MAX_LISTED."""
        if len(self.dropped) < MAX_LISTED or (cap and not any(entry.cap for entry in self.dropped)):
            self.dropped.append(Dropped(shown(path), why, cap))
        else:
            self.unlisted += 1

    def all_dropped(self) -> tuple[Dropped, ...]:
        """Everything noted, with one summary entry if there was too much to list."""
        rest = [Dropped("", f"{self.unlisted} more entries not listed")] if self.unlisted else []
        return (*self.dropped, *rest)


class _Full(Exception):
    """The entry count of the budget is used up."""


def export_tree(directory: int, out: IO[bytes], budget: Budget, prefix: str = "") -> None:
    """Write the tree below the open `directory` to `out` as an uncompressed tar stream, within `budget`.

    `prefix` is put in front of the paths in `budget.dropped` (not in the stream). The descriptor stays open.
    Names that are not UTF-8 keep their bytes. Nothing of the tree may change meanwhile for the stream to be
    complete, but a change can neither make the walk leave the tree nor block it.
    """
    writer = tarfile.open(  # noqa: SIM115
        fileobj=out, mode="w|", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
    )
    try:
        _Walk(writer, budget, prefix).visit(directory, "", 0)
    except _Full:
        pass  # noted in the budget
    writer.close()


def export_bytes(directory: int, budget: Budget, prefix: str = "") -> bytes:
    """`export_tree` into memory; at most `budget.total` and the headers of `budget.files` entries."""
    out = io.BytesIO()
    export_tree(directory, out, budget, prefix)
    return out.getvalue()


class _Walk:
    def __init__(self, writer: tarfile.TarFile, budget: Budget, prefix: str) -> None:
        self.writer, self.budget, self.prefix = writer, budget, prefix

    def visit(self, directory: int, above: str, depth: int) -> None:
        for name, info in self._entries(directory, above):
            path = above + name
            kind = stat.S_IFMT(info.st_mode)
            if name.lower() == ".git":
                self._drop(path, ".git")
            elif kind in _SPECIAL:
                self._drop(path, _SPECIAL[kind])
            elif len(os.fsencode(path)) > MAX_PATH:
                self._drop(path, f"path longer than {MAX_PATH} bytes", cap=True)
            elif kind == stat.S_IFDIR:
                self._directory(directory, name, path, depth)
            elif kind == stat.S_IFLNK:
                self._link(directory, name, path)
            else:
                self._file(directory, name, path)

    def _entries(self, directory: int, above: str) -> list[tuple[str, os.stat_result]]:
        """The sorted entries; one more than the budget allows is enough to know that it is exceeded."""
        with os.scandir(directory) as listing:
            found = [
                (entry.name, entry.stat(follow_symlinks=False))
                for entry in islice(listing, self.budget.files + MAX_LISTED + 1)
            ]
        return sorted(found, key=lambda pair: os.fsencode(pair[0]))

    def _drop(self, path: str, why: str, cap: bool = False) -> None:
        self.budget.drop(self.prefix + path, why, cap)

    def _header(self, path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
        if self.budget.files <= 0:
            self._drop(path, "too many entries", cap=True)
            raise _Full
        self.budget.files -= 1
        header = tarfile.TarInfo(path)
        header.type, header.mode, header.mtime = kind, mode, 0
        return header

    def _directory(self, parent: int, name: str, path: str, depth: int) -> None:
        if depth >= MAX_DEPTH:
            self._drop(path, f"deeper than {MAX_DEPTH} directories", cap=True)
            return
        with _opened(parent, name, os.O_DIRECTORY) as handle:
            if handle is None:
                self._drop(path, "changed during export", cap=True)
                return
            self.writer.addfile(self._header(path, tarfile.DIRTYPE, 0o755))
            self.visit(handle, path + "/", depth + 1)

    def _link(self, parent: int, name: str, path: str) -> None:
        header = self._header(path, tarfile.SYMTYPE, 0o777)
        header.linkname = os.readlink(name, dir_fd=parent)
        self.writer.addfile(header)

    def _file(self, parent: int, name: str, path: str) -> None:
        with _opened(parent, name, os.O_NONBLOCK) as handle:
            info = os.fstat(handle) if handle is not None else None
            if handle is None or info is None or not stat.S_ISREG(info.st_mode):
                self._drop(path, "changed during export", cap=True)
            elif info.st_size > self.budget.file:
                self._drop(path, f"file of {info.st_size} bytes", cap=True)
            elif info.st_size > self.budget.total:
                self._drop(path, "total size reached", cap=True)
            else:
                header = self._header(path, tarfile.REGTYPE, 0o755 if info.st_mode & 0o111 else 0o644)
                data = _read(handle, info.st_size)
                header.size = len(data)
                self.budget.total -= len(data)
                self.writer.addfile(header, io.BytesIO(data))


@contextmanager
def _opened(parent: int, name: str, flags: int) -> Iterator[int | None]:
    """The entry opened for reading without following a link, or None if it is not what it was."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=parent)
    except OSError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _read(handle: int, size: int) -> bytes:
    parts = []
    while size > 0 and (block := os.read(handle, min(size, 1 << 20))):
        parts.append(block)
        size -= len(block)
    return b"".join(parts)
