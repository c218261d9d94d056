"""Frozen stores in a run directory: each file cut into chunks, so that what the arms of a fold share lies there once.

Invariant: what is restored is byte for byte what was kept, or UsageFault says what is damaged; a chunk is named by the
digest of its bytes, so nothing is stored twice and one arm's store cannot change another's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints, ValidationError

from harness.outcome import UsageFault
from harness.rundir import RunDir
from memory_probe.protocol import MemoryFault
from traps.schema import explain

#: Bytes of a chunk. A multiple of SQLite's page, so that a page that was not written leaves its chunk as it was.
CHUNK = 65_536

MOST = 512 << 20  # bytes of a store that is restored

_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size: int = Field(ge=0)
    chunks: list[_Digest]


class _Manifest(RootModel[dict[str, _File]]):
    """File name -> its chunks, in order."""


def keep_store(folder: RunDir, files: Mapping[str, bytes]) -> str:
    """Store the files of a frozen store; returns the blob of their manifest.

    Equal files give an equal blob. Raises MemoryFault for a name that leads out of the store's folder.
    """
    manifest: dict[str, dict[str, object]] = {}
    for name, data in sorted(files.items()):
        _require_inside(name)
        view = memoryview(data)
        manifest[name] = {
            "size": len(data),
            "chunks": [folder.put_packed(bytes(view[at : at + CHUNK])) for at in range(0, len(data), CHUNK)],
        }
    return folder.put_blob(json.dumps(manifest, sort_keys=True).encode())


def restore_store(folder: RunDir, manifest_blob: str) -> dict[str, bytes]:
    """The files of a store by name, in order of names.

    Raises UsageFault when the manifest or a chunk is missing or damaged, or the files are larger than MOST together: a
    manifest can name one chunk as often as it likes.
    """
    manifest = _manifest(folder, manifest_blob)
    if sum(len(file.chunks) for file in manifest.values()) * CHUNK > MOST:
        raise UsageFault(f"blob {manifest_blob}: a store of more than {MOST >> 20} MiB")
    found: dict[str, bytes] = {}
    for name, file in sorted(manifest.items()):
        try:
            _require_inside(name)
        except MemoryFault as error:
            raise UsageFault(f"blob {manifest_blob}: {error}") from error
        data = b"".join(folder.get_packed(chunk, CHUNK) for chunk in file.chunks)
        if len(data) != file.size:
            raise UsageFault(f"blob {manifest_blob}: its chunks do not make up {name}")
        found[name] = data
    return found


def chunks(folder: RunDir, manifest_blob: str) -> list[str]:
    """The digests of a store's chunks, in order. Raises UsageFault."""
    return [chunk for file in _manifest(folder, manifest_blob).values() for chunk in file.chunks]


def _manifest(folder: RunDir, blob: str) -> dict[str, _File]:
    try:
        return _Manifest.model_validate_json(folder.get_blob(blob)).root
    except ValidationError as error:
        raise UsageFault(f"blob {blob}: not the manifest of a store: {explain(error)}") from error


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put the files of a store into a folder. Raises MemoryFault for a name that leads out of it."""
    for name, data in files.items():
        _require_inside(name)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _require_inside(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in name:
        raise MemoryFault(f"a frozen store names a file outside of its folder: {name!r}")
