"""The packages that reading a store needs, as a tree that a sandbox is given: ours, and those they import.

Invariant: the files are those of the environment that the harness runs in, taken as bytes; nothing of a run is among
them.
"""

from __future__ import annotations

import functools
from importlib import metadata
from pathlib import Path, PurePosixPath

import memory_probe
import traps
from harness.replaying import view_worker
from oracles.tars import make_tar

WORKER = "view_worker.py"
_READING = ("numpy",)
#: What filling a template needs: only instruments show items that were no memory's.
_FILLING = (
    "jinja2",
    "markupsafe",
    "pydantic",
    "pydantic-core",
    "annotated-types",
    "typing-extensions",
    "typing-inspection",
)
_ROOM = Path(traps.__file__).parent


@functools.cache
def library(instruments: bool) -> bytes:
    """A tar with the worker, and below `lib/` what it imports. Raises LookupError for a package that is not here."""
    files = {WORKER: Path(view_worker.__file__).read_bytes()}
    probe = Path(memory_probe.__file__).parent
    for path in probe.rglob("*.py"):
        files[f"lib/memory_probe/{path.relative_to(probe).as_posix()}"] = path.read_bytes()
    if instruments:
        files |= {f"lib/traps/{name}": (_ROOM / name).read_bytes() for name in ("__init__.py", "facts.py", "schema.py")}
    for name in (*_READING, *(_FILLING if instruments else ())):
        files |= _installed(name)
    return make_tar(files)


def _installed(name: str) -> dict[str, bytes]:
    """The programs and libraries of an installed distribution, without its tests."""
    try:
        listed = metadata.distribution(name).files or []
    except metadata.PackageNotFoundError as error:
        raise LookupError(f"the package {name} is not installed") from error
    return {f"lib/{entry}": Path(str(entry.locate())).read_bytes() for entry in listed if _needed(entry)}


def _needed(entry: PurePosixPath) -> bool:
    if entry.is_absolute() or {"..", "tests", "__pycache__"} & set(entry.parts):
        return False
    return entry.suffix == ".py" or ".so" in entry.suffixes
