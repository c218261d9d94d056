"""Which code this is: one digest over the program files of our own packages.

Invariant: the digest is of what is run here, whatever the version number says; traps, oracles, fixtures and folds,
which the plan has by digests of their own, are not in it, and neither is where the code lies.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from harness.config import ROOT

PACKAGES = ("analysis", "containers", "harness", "memory_probe", "oracles", "traps")
_SUFFIXES = {".py", ".toml"}
_CONTENT = re.compile(r"(traps|oracles)/(c\d+|fixtures|folds)")


def code_digest(root: Path = ROOT) -> str:
    """sha256 over path and sha256 of every .py and .toml file of our packages, sorted by path. Raises OSError."""
    total = hashlib.sha256()
    for name, path in sorted(_files(root)):
        total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for folder, inner, names in os.walk(root / package):
            place = Path(folder).relative_to(root).as_posix()
            inner[:] = [name for name in inner if not _CONTENT.fullmatch(f"{place}/{name}")]
            for name in names:
                path = Path(folder) / name
                if path.suffix in _SUFFIXES and path.is_file():
                    yield f"{place}/{name}", path
