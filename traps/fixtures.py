"""Fixtures: the repositories that traps live in, as plain trees of bytes.

Invariant: a tree is a mapping from POSIX path to `File`; it is read, hashed and overlaid here, never executed.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from traps.hosted import HostedSpec, fetch, files
from traps.schema import FixtureFile, TrapError, read_toml

_SKIP = {"__pycache__", ".pytest_cache", ".DS_Store"}


@dataclass(frozen=True)
class File:
    """A regular file: bytes and whether it is executable."""

    data: bytes
    executable: bool = False


Tree = dict[str, File]


@dataclass(frozen=True)
class Fixture:
    """A fixture: what its file says, and its tree. `digest` covers both."""

    spec: FixtureFile
    tree: Tree
    digest: str


def load_fixture(root: Path, name: str, cache: Path) -> Fixture:
    """Load the fixture folder `root/name`; a hosted one is fetched into `cache` (no network when it is there)."""
    folder = root / name
    if not (folder / "fixture.toml").is_file():
        raise TrapError(f"{folder / 'fixture.toml'}: no such fixture")
    spec = read_toml(folder / "fixture.toml", FixtureFile)
    if spec.hosted:
        archive = fetch(HostedSpec(spec.package, spec.version, spec.sha256, spec.filename), cache)
        tree = {p: File(f.bytes, f.executable) for p, f in files(archive, spec.keep, spec.drop).items()}
    else:
        tree = read_folder(folder / "repo")
    if not tree:
        raise TrapError(f"{folder}: the fixture's tree is empty")
    # how it is tested and imported belongs to what a trap was admitted on, as much as its files do
    told = hashlib.sha256(spec.model_dump_json(by_alias=True).encode())
    return Fixture(spec, tree, hashlib.sha256(f"{told.hexdigest()}\n{tree_digest(tree)}\n".encode()).hexdigest())


def read_folder(folder: Path) -> Tree:
    """Every file below a folder of ours; a missing folder is an empty tree. Links are refused."""
    tree: Tree = {}
    if not folder.is_dir():
        return tree
    for path in sorted(folder.rglob("*")):
        if _SKIP & set(path.relative_to(folder).parts):
            continue
        if path.is_symlink():
            raise TrapError(f"{path}: a link has no place in a fixture or overlay")
        if path.is_file():
            tree[path.relative_to(folder).as_posix()] = File(path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return tree


def tree_digest(tree: Mapping[str, File]) -> str:
    """sha256 over paths, modes and contents in path order."""
    total = hashlib.sha256()
    for path in sorted(tree):
        file = tree[path]
        head = f"{len(path.encode())}:{path}:{int(file.executable)}:{len(file.data)}:"
        total.update(head.encode() + file.data)
    return total.hexdigest()


def to_tar(tree: Mapping[str, File]) -> bytes:
    """The tree as an uncompressed tar with sorted members, mtime 0 and modes 0644/0755."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(tree):
            info = tarfile.TarInfo(path)
            info.size = len(tree[path].data)
            info.mode = 0o755 if tree[path].executable else 0o644
            tar.addfile(info, io.BytesIO(tree[path].data))
    return out.getvalue()
