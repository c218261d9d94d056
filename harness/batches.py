"""Many trees of an object store at once: read by one git process, written by one.

Invariant: as `ObjectStore`: git sees objects alone; what is written has the id that git gives it, which is compared.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import IO, Self, cast

from harness.objects import ENVIRONMENT, ObjectStore, quoted
from harness.outcome import Boundary, Fault
from harness.snapshot import Entry

#: path -> (git mode, key of the body: its git id, or what the caller has it under)
Listing = dict[bytes, tuple[str, str]]


class TreeReader:
    """Reads trees and blobs by id, a folder that several trees share once. Not thread-safe; a context manager."""

    def __init__(self, store: ObjectStore) -> None:
        words = store.words("cat-file", "--batch")
        self._git = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT, cwd="/"
        )
        self._in, self._out = cast("IO[bytes]", self._git.stdin), cast("IO[bytes]", self._git.stdout)
        self._folders: dict[str, Listing] = {}

    def listing(self, tree: str) -> Listing:
        """Every file below a tree. Raises Fault when something is missing or is no tree."""
        if tree not in self._folders:
            found: Listing = {}
            for mode, name, id_ in _rows(self._object(tree, b"tree")):
                if mode == "40000":
                    found |= {name + b"/" + path: told for path, told in self.listing(id_).items()}
                else:
                    found[name] = mode, id_
            self._folders[tree] = found
        return self._folders[tree]

    def blob(self, id_: str) -> bytes:
        """Raises Fault when it is missing."""
        return self._object(id_, b"blob")

    def _object(self, id_: str, kind: bytes) -> bytes:
        try:
            self._in.write(id_.encode() + b"\n")
            self._in.flush()
            words = self._out.readline().split()
        except OSError as error:
            raise Fault(Boundary.LEDGER, f"git cat-file failed: {error}") from error
        if len(words) != 3 or words[1] != kind:
            raise Fault(Boundary.LEDGER, f"object {id_[:16]} is missing from the store or no {kind.decode()}")
        body = self._out.read(int(words[2]) + 1)[:-1]
        if len(body) != int(words[2]):
            raise Fault(Boundary.LEDGER, f"object {id_[:16]} cannot be read")
        return body

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._in.close()
        self._out.close()
        self._git.wait()


def _rows(body: bytes) -> Iterator[tuple[str, bytes, str]]:
    at = 0
    while at < len(body):
        blank, end = body.index(b" ", at), body.index(b"\0", at)
        yield body[at:blank].decode(), body[blank + 1 : end], body[end + 1 : end + 21].hex()
        at = end + 21


def put_many(store: ObjectStore, trees: Mapping[str, Listing], bodies: Mapping[str, bytes]) -> None:
    """Store trees (wanted id -> path -> (mode, key of its body)). Raises Fault when git gives a tree another id."""
    marks = {key: number for number, key in enumerate(bodies, 1)}
    words = store.words("fast-import", "--quiet", "--force", "--done", "--date-format=raw")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd="/") as git:
        into = cast("IO[bytes]", git.stdin)
        try:
            for part in _stream(trees, bodies, marks):
                into.write(part)
            into.close()
        except BrokenPipeError:
            pass  # git gave up; it says why
        said = cast("IO[bytes]", git.stderr).read()
    if git.returncode != 0:
        raise Fault(Boundary.LEDGER, f"git fast-import failed: {said.decode('utf-8', 'replace').strip()[:300]}")
    told = store.ask("for-each-ref", "--format=%(refname:lstrip=2) %(tree)", "refs/trees").decode().split("\n")
    found = dict(line.split(" ") for line in told if line)
    if wrong := [wanted for wanted in trees if trees[wanted] and found.get(wanted) != wanted]:
        raise Fault(Boundary.LEDGER, f"git stored tree {found.get(wrong[0])} where {wrong[0]} was expected")


def _stream(trees: Mapping[str, Listing], bodies: Mapping[str, bytes], marks: Mapping[str, int]) -> Iterator[bytes]:
    for key, body in bodies.items():
        yield b"blob\nmark :%d\ndata %d\n" % (marks[key], len(body)) + body + b"\n"
    for wanted, files in trees.items():
        if not files:
            continue  # git makes no commit of an empty tree here; `ObjectStore.put` stores it
        yield b"commit refs/trees/%s\ncommitter dev <dev@localhost> 0 +0000\ndata 0\ndeleteall\n" % wanted.encode()
        for path, (mode, key) in files.items():
            yield b"M %s :%d %s\n" % (mode.encode(), marks[key], quoted(path))
    yield b"done\n"


def snapshot(listing: Listing, bodies: Mapping[str, bytes]) -> dict[bytes, Entry]:
    """A listing with its bodies."""
    return {path: Entry(mode, bodies[key]) for path, (mode, key) in listing.items()}


def unique(trees: Iterable[str]) -> list[str]:
    """Ids in the order of their first mention, without those of sessions that left nothing."""
    return list(dict.fromkeys(tree for tree in trees if tree))
