"""The trees of a run for an audit: which paths they hold, what differs between two, each file's bytes once.

Invariant: only objects of the run's own store are read, in batches of bounded size; what cannot be read is listed with
the reason and takes nothing else along.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.objects import ObjectStore
from harness.outcome import Fault

_ID = re.compile(r"[0-9a-f]{40}")
_FOLDER = b"40000"
_BATCH = 32 << 20  # bytes of objects that are read at a time
_ROWS = 20_000  # objects that are asked for at a time
T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One entry of a tree object."""

    mode: bytes
    id: str

    @property
    def folder(self) -> bool:
        return self.mode == _FOLDER


@dataclass(frozen=True)
class Differing:
    """A path of which mode or file differ between two trees; None: it is not there."""

    path: bytes
    old: Row | None
    new: Row | None


class TreeReader(ObjectStore):
    """Reads trees and files of an object store. `broken`: tree or blob -> id -> why it cannot be read as one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.broken: dict[str, dict[str, str]] = {"tree": {}, "blob": {}}
        self._rows: dict[str, dict[bytes, Row]] = {}  # tree object -> its entries

    def learn(self, trees: Iterable[str]) -> None:
        """Read tree objects and all that are below them."""
        owed = {tree for tree in trees if tree not in self._rows}
        for tree in [tree for tree in owed if not _ID.fullmatch(tree)]:
            self.broken["tree"][tree] = "not the id of a tree"
            owed.discard(tree)
        while owed:
            found: set[str] = set()
            for tree, body in self._objects(owed, "tree"):
                try:
                    self._rows[tree] = dict(_parsed(body))
                except ValueError:
                    self.broken["tree"][tree] = "not a tree that can be read"
                    continue
                found |= {row.id for row in self._rows[tree].values() if row.folder}
            owed = found - self._rows.keys() - self.broken["tree"].keys()

    def files(self, tree: str) -> dict[bytes, Row]:
        """Every file by path; what lies below an unreadable folder is left out (see `broken`)."""
        found: dict[bytes, Row] = {}
        owed = [(b"", tree)]
        while owed:
            prefix, folder = owed.pop()
            for name, row in self._rows.get(folder, {}).items():
                if row.folder:
                    owed.append((prefix + name + b"/", row.id))
                else:
                    found[prefix + name] = row
        return found

    def broken_in(self, tree: str) -> list[str]:
        """Why parts of the tree could not be read, one text each."""
        found: list[str] = []
        owed = [tree]
        while owed:
            folder = owed.pop()
            if folder in self.broken["tree"]:
                found.append(self.broken["tree"][folder])
            rows = self._rows.get(folder, {}).values()
            owed += [row.id for row in rows if row.folder]
            found += [self.broken["blob"][row.id] for row in rows if not row.folder and row.id in self.broken["blob"]]
        return found

    def differing(self, old: str, new: str) -> list[Differing]:
        """Every path whose mode or bytes differ, in path order."""
        found: list[Differing] = []
        owed = [(b"", old, new)]
        while owed:
            prefix, left, right = owed.pop()
            before, after = self._rows.get(left, {}), self._rows.get(right, {})
            for name in {*before, *after}:
                pair = before.get(name), after.get(name)
                if pair[0] == pair[1]:
                    continue
                below = [row.id if row and row.folder else "" for row in pair]
                if any(below):
                    owed.append((prefix + name + b"/", below[0], below[1]))
                files = [row if row and not row.folder else None for row in pair]
                if any(files):
                    found.append(Differing(prefix + name, files[0], files[1]))
        return sorted(found, key=lambda d: d.path)

    def bodies(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The bytes of files, each once, in no certain order."""
        yield from self._objects(set(ids) - self.broken["blob"].keys(), "blob")

    def _objects(self, ids: Iterable[str], kind: str) -> Iterator[tuple[str, bytes]]:
        for batch in self._batches(ids, kind):
            for name, body in self._split(batch, kind, self._read):
                whole = b"%s %d\0" % (kind.encode(), len(body)) + body  # git itself compares only when it is asked to
                if hashlib.sha1(whole, usedforsecurity=False).hexdigest() == name:
                    yield name, body
                else:
                    self.broken[kind][name] = "damaged (its bytes do not match its name)"

    def _batches(self, ids: Iterable[str], kind: str) -> Iterator[list[str]]:
        """The ids cut so that the objects of a piece fit into memory; those that are not there are noted."""
        wanted: list[str] = []
        size = 0
        for each in _cut(sorted(ids), _ROWS):
            for name, found, length in self._split(each, kind, self._headers):
                if found != kind:
                    self.broken[kind][name] = "missing" if not found else f"a {found} where a {kind} was expected"
                    continue
                if wanted and size + length > _BATCH:
                    yield wanted
                    wanted, size = [], 0
                wanted.append(name)
                size += length
        if wanted:
            yield wanted

    def _split(self, ids: list[str], kind: str, ask: Callable[[list[str]], list[T]]) -> Iterator[T]:
        """Ask for all; where git gives up, ask for halves, until only what is damaged is left out."""
        try:
            yield from ask(ids)
        except (Fault, ValueError, IndexError) as error:
            if len(ids) > 1:
                yield from self._split(ids[: len(ids) // 2], kind, ask)
                yield from self._split(ids[len(ids) // 2 :], kind, ask)
            else:
                self.broken[kind][ids[0]] = error.reason if isinstance(error, Fault) else "git's answer cannot be read"

    def _headers(self, ids: list[str]) -> list[tuple[str, str, int]]:
        """(id, kind, bytes) of each; the kind of a missing one is ""."""
        lines = self._git("cat-file", "--batch-check", data=_lines(ids)).decode("ascii").splitlines()
        found = [line.split() for line in lines]
        return [(i, w[1], int(w[2])) if len(w) == 3 else (i, "", 0) for i, w in zip(ids, found, strict=True)]

    def _read(self, ids: list[str]) -> list[tuple[str, bytes]]:
        stream, at, found = self._git("cat-file", "--batch", data=_lines(ids)), 0, []
        for name in ids:
            end = stream.index(b"\n", at)
            size = int(stream[at:end].split()[2])
            found.append((name, stream[end + 1 : end + 1 + size]))
            at = end + size + 2
        return found


def _parsed(body: bytes) -> Iterator[tuple[bytes, Row]]:
    at = 0
    while at < len(body):
        end = body.index(b"\0", at)
        mode, _, name = body[at:end].partition(b" ")
        yield name, Row(mode, body[end + 1 : end + 21].hex())
        at = end + 21


def _lines(ids: Iterable[str]) -> bytes:
    return b"".join(name.encode() + b"\n" for name in ids)


def _cut(ids: list[str], size: int) -> Iterator[list[str]]:
    return (ids[at : at + size] for at in range(0, len(ids), size))
