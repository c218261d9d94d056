"""Small tars in memory. Invariant: nothing is ever extracted to a disk."""

from __future__ import annotations

import importlib.util
import io
import marshal
import sys
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def make_tar(files: Mapping[str, bytes]) -> bytes:
    """An uncompressed tar of regular files with mode 0644 and time 0, in sorted order."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            member = tarfile.TarInfo(path)
            member.size = len(files[path])
            archive.addfile(member, io.BytesIO(files[path]))
    return buffer.getvalue()


def room_modules(names: Iterable[str], under: str = "") -> dict[str, bytes]:
    """Modules of this room as files below `under`, with bytecode that is checked against the source by hash.

    An interpreter of another version ignores the bytecode.
    """
    found: dict[str, bytes] = {}
    for name in names:
        source = (Path(__file__).parent / f"{name}.py").read_bytes()
        header = importlib.util.MAGIC_NUMBER + (0b11).to_bytes(4, "little") + importlib.util.source_hash(source)
        code = compile(source, f"{under}{name}.py", "exec", dont_inherit=True)
        found[f"{under}{name}.py"] = source
        found[f"{under}__pycache__/{name}.{sys.implementation.cache_tag}.pyc"] = header + marshal.dumps(code)
    return found


def read_tar(data: bytes) -> dict[str, bytes]:
    """The regular files of a tar that the harness made, by path."""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None:
                found[member.name.removeprefix("./")] = file.read()
    return found
