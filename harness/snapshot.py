"""Snapshots: a repository tree as data, read from a hostile tar stream, hashed the way git hashes it.

Invariant: a snapshot holds regular files and links as bytes, nothing else; paths are relative, without `.`/`..`
and without any `.git`; what was refused is listed, and a limit that was hit is never a silently shorter tree.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from containers.sandbox import Dropped
from traps.fixtures import Tree

REGULAR, EXECUTABLE, LINK = "100644", "100755", "120000"
# NTFS drops spaces and dots at the end of a name, ends it at a colon or backslash, and has short names
_GIT = re.compile(rb"(\.git|git~1)[ .]*([:\\]|\Z)", re.I | re.S)


@dataclass(frozen=True)
class Entry:
    """A blob: git mode and bytes (of a link: its target)."""

    mode: str
    data: bytes

    @property
    def blob(self) -> str:
        """The git object id of the data."""
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data, usedforsecurity=False).hexdigest()


Snapshot = Mapping[bytes, Entry]


def of_tree(tree: Tree) -> dict[bytes, Entry]:
    """A fixture's tree as a snapshot."""
    return {p.encode(): Entry(EXECUTABLE if f.executable else REGULAR, f.data) for p, f in tree.items()}


def overlay(base: Snapshot, tree: Tree, removed: Iterable[str] = ()) -> dict[bytes, Entry]:
    """`base` with the files of `tree` put over it and `removed` paths taken out."""
    gone = {p.encode() for p in removed}
    return lay({p: e for p, e in base.items() if p not in gone}, of_tree(tree))


def lay(base: Snapshot, new: Snapshot) -> dict[bytes, Entry]:
    """`base` with the entries of `new` over it; a file takes the place of a folder, a folder that of a file."""
    folders = {folder for path in new for folder in _folders(path)}
    kept = {p: e for p, e in base.items() if p not in folders and not any(f in new for f in _folders(p))}
    return kept | dict(new)


def _folders(path: bytes) -> Iterator[bytes]:
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def tree_id(snapshot: Snapshot) -> str:
    """The git tree object id of the snapshot."""
    return listing_id(_listing(snapshot))


def listing_id(listing: Mapping[bytes, tuple[str, str]]) -> str:
    """The git tree object id of a tree that is told as path -> (mode, git id of the blob)."""
    return _tree(listing)[0].hex()


def tree_objects(snapshot: Snapshot) -> list[bytes]:
    """Raw contents of all tree objects, the root last (for tests and integrity checks)."""
    return _tree(_listing(snapshot))[1]


def _listing(snapshot: Snapshot) -> dict[bytes, tuple[str, str]]:
    return {path: (entry.mode, entry.blob) for path, entry in snapshot.items()}


def _tree(listing: Mapping[bytes, tuple[str, str]]) -> tuple[bytes, list[bytes]]:
    nested: dict[bytes, dict[bytes, tuple[str, str]]] = {}
    rows: list[tuple[bytes, bytes]] = []
    for path, (mode, blob) in listing.items():
        head, slash, tail = path.partition(b"/")
        if slash:
            nested.setdefault(head, {})[tail] = mode, blob
        else:
            rows.append((head, b"%s %s\0%s" % (mode.encode(), head, bytes.fromhex(blob))))
    objects: list[bytes] = []
    for name, inner in nested.items():
        inner_id, inner_objects = _tree(inner)
        objects += inner_objects
        # git sorts a directory as if its name ended in a slash
        rows.append((name + b"/", b"40000 %s\0%s" % (name, inner_id)))
    body = b"".join(row for _, row in sorted(rows))
    objects.append(body)
    return hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).digest(), objects


def to_tar(snapshot: Snapshot) -> bytes:
    """An uncompressed tar: sorted members, mtime 0, owner 0, modes 0644/0755, links as links."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
        for path in sorted(snapshot):
            entry = snapshot[path]
            info = tarfile.TarInfo(os.fsdecode(path))
            if entry.mode == LINK:
                info.type, info.linkname = tarfile.SYMTYPE, os.fsdecode(entry.data)
                tar.addfile(info)
            else:
                info.mode = 0o755 if entry.mode == EXECUTABLE else 0o644
                info.size = len(entry.data)
                tar.addfile(info, io.BytesIO(entry.data))
    return out.getvalue()


def is_git(part: bytes) -> bool:
    """Would some git, on some file system, take this path component for a repository's own folder?"""
    return bool(_GIT.match(part))


def from_tar(stream: bytes) -> tuple[dict[bytes, Entry], list[Dropped]]:
    """Read an exported tree; nothing is extracted. Raises tarfile.TarError for a stream that is no tar."""
    found: dict[bytes, Entry] = {}
    dropped: list[Dropped] = []
    if not stream:
        return found, dropped
    with tarfile.open(fileobj=io.BytesIO(stream), mode="r:", errors="surrogateescape") as tar:
        for member in tar:
            name = os.fsencode(member.name)
            parts = [p for p in name.split(b"/") if p not in (b"", b".")]
            if not parts or member.isdir():
                continue
            if why := _refusal(name, parts, member, found):
                dropped.append(Dropped(name.decode("utf-8", "backslashreplace"), why))
                continue
            path = b"/".join(parts)
            if member.issym():
                found[path] = Entry(LINK, os.fsencode(member.linkname))
            elif member.islnk():
                found[path] = found[os.fsencode(member.linkname)]
            else:
                body = tar.extractfile(member)
                found[path] = Entry(EXECUTABLE if member.mode & 0o111 else REGULAR, body.read() if body else b"")
    return found, dropped


def _refusal(name: bytes, parts: list[bytes], member: tarfile.TarInfo, found: Snapshot) -> str:
    if name.startswith(b"/") or b".." in parts or b"\0" in name:
        return "path leaves the tree"
    if any(is_git(part) for part in parts):
        return "a repository's own folder"
    if member.issym() and parts[-1].lower() == b".gitmodules":
        return "a link that git takes for a list of repositories"  # git refuses a tree with one
    if member.islnk() and os.fsencode(member.linkname) not in found:
        return "hard link to nothing"
    if not (member.isreg() or member.issym() or member.islnk()):
        return "neither a file nor a link"
    return ""
