"""The traps, oracles, fixtures and hosted archives that a run was made from, as members of its bundle.

Invariant: a path is one that we would have given it, so that what is written out again lies below the folder that it is
written to; nothing is run, imported or unpacked.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from harness.bundle.container import BundleError
from harness.bundle.manifest import Digest
from harness.bundle.opened import Opened
from traps.fixtures import File, read_folder
from traps.schema import FixtureFile, TrapError, explain, read_toml

_PART = r"[A-Za-z0-9_+@=,~-][A-Za-z0-9_.+@=, ~-]{0,120}|\.[A-Za-z0-9_-][A-Za-z0-9_.-]{0,60}"
_PATH = rf"^(traps|oracles|cache)(/({_PART})){{1,24}}$"
SOURCES = ("traps", "oracles", "cache")


class _Index(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal[1] = Field(alias="schema")
    files: dict[Annotated[str, StringConstraints(pattern=_PATH, max_length=600)], tuple[Digest, bool]]


def gathered(run: Opened) -> dict[str, File]:
    """Every file by its path in the bundle. Raises TrapError for a folder that holds a link."""
    config = run.config
    found: dict[str, File] = {}
    for trap in run.traps.values():
        place = f"{trap.folder.parent.name}/{trap.folder.name}"
        found |= _below(f"traps/{place}", trap.folder)
        found |= _below(f"oracles/{place}", Path(config.oracles_dir) / place)
    for fixture in sorted({trap.spec.fixture for trap in run.traps.values()}):
        found |= _below(f"traps/fixtures/{fixture}", Path(config.traps_dir) / "fixtures" / fixture)
    for spec in {t.spec.fixture: t.fixture.spec for t in run.traps.values()}.values():
        if spec.hosted:
            inner = f"sha256/{spec.sha256}/{spec.filename}"
            found[f"cache/{inner}"] = File((config.cache_dir / inner).read_bytes())
    return dict(sorted(found.items()))


def _below(prefix: str, folder: Path) -> dict[str, File]:
    return {f"{prefix}/{path}": file for path, file in read_folder(folder).items()}


def index(files: Mapping[str, File]) -> bytes:
    """sources/index.json. Raises BundleError for a name that a bundle does not take."""
    if bad := [path for path in files if not re.fullmatch(_PATH, path)]:
        raise BundleError(f"{bad[0]!r}: a file name that a bundle does not take")
    rows = {path: [hashlib.sha256(file.data).hexdigest(), file.executable] for path, file in files.items()}
    return json.dumps({"schema": 1, "files": rows}, sort_keys=True, separators=(",", ":")).encode()


def read_index(data: bytes) -> dict[str, tuple[str, bool]]:
    """path -> (sha256, executable). Raises BundleError, also where one path is a folder of another."""
    try:
        found = _Index.model_validate_json(data).files
    except ValidationError as error:
        raise BundleError(f"sources/index.json: {explain(error)[:300]}") from None
    folders = {parent for path in found for parent in _parents(path)}
    if both := sorted(folders & found.keys()):
        raise BundleError(f"sources/index.json: {both[0]} is a file and a folder")
    for path, (digest, _) in found.items():
        if path.startswith("cache/") and path.split("/")[1:3] != ["sha256", digest]:
            raise BundleError(f"sources/index.json: {path}: an archive lies under another digest than its own")
    return dict(found)


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")
    for length in range(1, len(parts)):
        yield "/".join(parts[:length])


def written(folder: Path, told: Mapping[str, tuple[str, bool]], bodies: Mapping[str, bytes]) -> None:
    """Write the sources below an empty folder of ours. Raises BundleError for a file without its bytes."""
    for path, (digest, executable) in told.items():
        if digest not in bodies:
            raise BundleError(f"sources: the bytes of {path} are missing")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(bodies[digest])
        target.chmod(0o755 if executable else 0o644)
    for name in SOURCES:
        (folder / name).mkdir(exist_ok=True)
    _require_archives(folder)


def _require_archives(folder: Path) -> None:
    """A hosted fixture whose archive is not here would be fetched: a bundle must not make us ask for anything."""
    for path in sorted(folder.glob("traps/fixtures/*/fixture.toml")):
        try:
            spec = read_toml(path, FixtureFile)
        except TrapError as error:
            raise BundleError(f"sources: fixture {path.parent.name}: {str(error).rpartition(str(path))[2]}") from None
        if spec.hosted and not (folder / "cache" / "sha256" / spec.sha256 / spec.filename).is_file():
            raise BundleError(f"sources: the archive of fixture {path.parent.name} is missing")
