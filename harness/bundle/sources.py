"""The traps, oracles, fixtures and hosted archives that a run was made from, as members of its bundle.

Invariant: a path is one that we would have given it, so that what is written out again lies below the folder that it is
written to; nothing is run, imported or unpacked.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from harness.bundle.container import BundleError
from harness.bundle.manifest import Digest
from harness.bundle.opened import Opened
from harness.bundle.tables import parsed
from traps.fixtures import File, read_folder
from traps.schema import FixtureFile, TrapError, TrapFile, explain, read_toml

_PART = r"[A-Za-z0-9_+@=,~-][A-Za-z0-9_.+@=, ~-]{0,120}|\.[A-Za-z0-9_-][A-Za-z0-9_.-]{0,60}"
_PATH = rf"^(traps|oracles|cache)(/({_PART})){{1,24}}$"
SOURCES = ("traps", "oracles", "cache")
#: What is taken of an oracle's and a fixture's folder: what their digests cover, and the fixture's background.
ORACLE, FIXTURE = ("oracle.py", "expect.toml", "solutions/"), ("fixture.toml", "background.toml", "repo/")
MOST_STARS, LONGEST_GLOB = 2, 200  # of a glob: matching takes time by a power of its stars
LARGEST_TOML, MOST_DOTS = 1 << 18, 200  # bytes; dots of a line
SKIPPED = frozenset({"__pycache__", ".pytest_cache", ".DS_Store"})
M = TypeVar("M", TrapFile, FixtureFile)


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
        oracle = _below(f"oracles/{place}", Path(config.oracles_dir) / place)
        found |= {path: file for path, file in oracle.items() if _within(path.split("/", 3)[3], ORACLE)}
    for fixture in sorted({trap.spec.fixture for trap in run.traps.values()}):
        host = _below(f"traps/fixtures/{fixture}", Path(config.traps_dir) / "fixtures" / fixture)
        found |= {path: file for path, file in host.items() if _within(path.split("/", 3)[3], FIXTURE)}
    for spec in {t.spec.fixture: t.fixture.spec for t in run.traps.values()}.values():
        if spec.hosted:
            inner = f"sha256/{spec.sha256}/{spec.filename}"
            found[f"cache/{inner}"] = File((config.cache_dir / inner).read_bytes())
    return dict(sorted(found.items()))


def _below(prefix: str, folder: Path) -> dict[str, File]:
    return {f"{prefix}/{path}": file for path, file in read_folder(folder).items()}


def _within(path: str, names: Sequence[str]) -> bool:
    """Whether a path is one of `names`, or below one that ends in a slash."""
    return path in names or path.startswith(tuple(name for name in names if name.endswith("/")))


def index(files: Mapping[str, File]) -> bytes:
    """sources/index.json. Raises BundleError for a name that a bundle does not take."""
    if bad := [path for path in files if not re.fullmatch(_PATH, path)]:
        raise BundleError(f"{bad[0]!r}: a file name that a bundle does not take")
    rows = {path: [hashlib.sha256(file.data).hexdigest(), file.executable] for path, file in files.items()}
    return _text(rows)


def _text(rows: Mapping[str, object]) -> bytes:
    return json.dumps({"schema": 1, "files": rows}, sort_keys=True, separators=(",", ":")).encode()


def read_index(data: bytes) -> dict[str, tuple[str, bool]]:
    """path -> (sha256, executable). Raises BundleError, also where one path is a folder of another."""
    raw = parsed("sources/index.json", data)
    try:
        found = _Index.model_validate(raw).files
    except ValidationError as error:
        raise BundleError(f"sources/index.json: {explain(error)[:300]}") from None
    if _text(raw["files"]) != data:
        raise BundleError("sources/index.json: is not in the one form that it has")
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
    """Write the sources below an empty folder of ours.

    Raises BundleError: a file without its bytes, bytes without a file, a file of no trap, a glob that could be matched
    for ever, a fixture that would have to be fetched.
    """
    if unnamed := sorted(set(bodies) - {digest for digest, _ in told.values()}):
        raise BundleError(f"sources: entry {unnamed[0][:16]} is there and belongs to no file")
    for path, (digest, executable) in told.items():
        if digest not in bodies:
            raise BundleError(f"sources: the bytes of {path} are missing")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(bodies[digest])
        target.chmod(0o755 if executable else 0o644)
    for name in SOURCES:
        (folder / name).mkdir(exist_ok=True)
    _require_archives(folder, told)
    _require_own(told, _named(folder))


def _require_archives(folder: Path, told: Mapping[str, object]) -> None:
    """A hosted fixture whose archive is not here would be fetched: a bundle must not make us ask for anything."""
    for path in sorted(folder.glob("traps/fixtures/*/fixture.toml")):
        name = path.parent.name
        spec = _read(f"fixture {name}", path, FixtureFile)
        if spec.hosted and f"cache/sha256/{spec.sha256}/{spec.filename}" not in told:
            raise BundleError(f"sources: the archive of fixture {name} is missing")
        if wild := [g for g in (*spec.keep, *spec.drop) if _slow(g)]:
            raise BundleError(f"sources: fixture {name}: the glob {wild[0][:60]!r} could be matched for ever")


def _named(folder: Path) -> list[str]:
    """Prefixes of the files that belong to a trap. What a trap names lies in its own folder: the model sees to that."""
    found = []
    for path in sorted(folder.glob("traps/c*/*/trap.toml")):
        place = f"{path.parent.parent.name}/{path.parent.name}"
        spec = _read(f"trap {place}", path, TrapFile)
        globs = [*spec.allow, *spec.sources, *spec.artifacts, *(p for s in spec.session for p in s.paths)]
        if wild := [g for g in globs if _slow(g)]:
            raise BundleError(f"sources: trap {place}: the glob {wild[0][:60]!r} could be matched for ever")
        found += [f"traps/{place}/", *(f"oracles/{place}/{name}" for name in ORACLE)]
        found += [f"traps/fixtures/{spec.fixture}/{name}" for name in FIXTURE]
        fixture = folder / "traps" / "fixtures" / spec.fixture / "fixture.toml"
        if fixture.is_file():
            told = _read(f"fixture {spec.fixture}", fixture, FixtureFile)
            found += [f"cache/sha256/{told.sha256}/{told.filename}"] if told.hosted else []
    return found


def _require_own(told: Mapping[str, object], named: list[str]) -> None:
    """Every file belongs to a trap, and is one that a freeze takes."""
    for path in told:
        if not _within(path, named) or SKIPPED & set(path.split("/")):
            raise BundleError(f"sources: {path[:80]} belongs to no trap")


def _read(what: str, path: Path, model: type[M]) -> M:
    if path.stat().st_size > LARGEST_TOML or _most_dots(path.read_bytes()) > MOST_DOTS:
        raise BundleError(f"sources: {what}: {path.name} is larger or deeper than any that we write")
    try:
        return read_toml(path, model)
    except TrapError as error:
        raise BundleError(f"sources: {what}: {str(error).removeprefix(f'{path}: ')}") from None
    except RecursionError:
        raise BundleError(f"sources: {what}: {path.name} is nested too deeply") from None


def _slow(glob: str) -> bool:
    return len(re.findall(r"\*+/?", glob)) > MOST_STARS or len(glob) > LONGEST_GLOB


def _most_dots(data: bytes) -> int:
    """The parser takes memory by the square of the parts of a dotted key."""
    return max(line.count(b".") for line in data.split(b"\n"))
