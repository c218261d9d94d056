"""The run directory: what lies where, who may write, and content-addressed blobs.

    run.json      resolved config, plan meaning and digests, versions (re-runnable)
    commitments.json  public commitments of every fact, written before the first session
    facts.json    the facts themselves (0600)
    background.json  what was drawn for the background, with a haystack (0600)
    ledger.sqlite objects.git/ blobs/
    sandbox.json  what every sandbox that this run used said of itself
    exchanges/ answers/  of what calls a model, while it runs; lost.jsonl: of sessions that were killed
    plan.json     what was frozen before the first session, if anything; amendments.json: every later change to it
    report.md     the tables
    report.html   the whole report; it holds views and diffs, and with them the facts (0600)

Invariant: one driver at a time holds the lock; files are replaced atomically and a directory that is not a run is
never written into.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.description import Description
from harness.outcome import UsageFault
from traps.schema import explain

SCHEMA = 1
_BLOB = re.compile(r"[0-9a-f]{64}")
_TEMPORARY = ".new-"
_SANDBOXES = "sandbox.json"
_BEGINNINGS = {"lock", "blobs", "facts.json", "background.json", "commitments.json"}


class RunDir:
    """A run directory at `path` (which must exist, see `create`)."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()  # programs that we start work elsewhere
        self._lock: int | None = None

    @property
    def facts(self) -> Path:
        return self.path / "facts.json"

    @property
    def background(self) -> Path:
        return self.path / "background.json"

    @property
    def ledger(self) -> Path:
        return self.path / "ledger.sqlite"

    @property
    def objects(self) -> Path:
        return self.path / "objects.git"

    @staticmethod
    def create(path: Path) -> RunDir:
        """Make the directory and become its driver.

        Raises UsageFault when it cannot be written, holds something else, or another driver is alive.
        """
        folder = RunDir(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            folder._refuse_strange()
            folder.lock()
            try:
                folder._refuse_strange()  # another one may have been here before the lock was ours
                (folder.path / "blobs").mkdir(exist_ok=True)
            except BaseException:
                folder.unlock()
                raise
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror} (remedy: name a writable directory with --out)") from error
        return folder

    @staticmethod
    def open(path: Path) -> RunDir:
        """An existing run. Raises UsageFault when there is none."""
        if not (path / "run.json").is_file():
            raise UsageFault(f"{path}: no run here (run.json is missing)")
        return RunDir(path)

    def _refuse_strange(self) -> None:
        """A run, an empty directory, or the beginnings of a run that was killed before its first session."""
        if (self.path / "run.json").exists():
            return
        found = {p.name for p in self.path.iterdir()}
        ours = {name for name in found if name in _BEGINNINGS or name.startswith(_TEMPORARY)}
        begun = "lock" in found and found == ours and not any(self.path.glob("blobs/*"))
        if found and not begun:
            raise UsageFault(f"{self.path}: not empty and not a run (remedy: name another directory with --out)")

    def lock(self) -> None:
        """Become the driver. Raises UsageFault while another one is alive, or when nothing can be written."""
        try:
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UsageFault(f"{self.path / 'lock'}: {error.strerror} (the run directory must be writable)") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise UsageFault(f"{self.path}: another process is driving this run") from error
        self._lock = handle

    def sweep(self) -> int:
        """Remove what a killed driver left behind; how many scratch stores that were. Only for who holds the lock."""
        if self._lock is None:
            raise RuntimeError("only the driver sweeps")
        stores = list(self.path.glob("stores-*"))
        for path in (*stores, *self.objects.glob("tmp*")):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
        ours = (f"{_TEMPORARY}*", f"blobs/*/{_TEMPORARY}*")
        of_git = ("*.lock", "refs/**/*.lock", "fast_import_crash_*", "objects/**/tmp_*")
        for pattern in (*ours, *(f"objects.git/{p}" for p in of_git)):
            for path in self.path.glob(pattern):
                path.unlink()
        return len(stores)

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write_json(self, name: str, data: dict[str, Any]) -> None:
        """Replace a file atomically and durably; the schema version is added. Mode 0600."""
        text = json.dumps({"schema": SCHEMA, **data}, indent=1, ensure_ascii=False)
        replace_file(self.path / name, text.encode(), durable=True)

    def read_json(self, name: str) -> dict[str, Any]:
        """Raises UsageFault for a missing or damaged file, or a version that is not known."""
        path = self.path / name
        try:
            data = json.loads(path.read_bytes())
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror}") from error
        except ValueError as error:
            raise UsageFault(f"{path}: damaged: {error}") from error
        if not isinstance(data, dict):
            raise UsageFault(f"{path}: damaged: not a table")
        if data.get("schema") != SCHEMA:
            raise UsageFault(f"{path}: schema {data.get('schema')!r} is not known here (expected {SCHEMA})")
        return data

    def description(self) -> Description:
        """What run.json says. Raises UsageFault naming the key that is missing or malformed."""
        data = self.read_json("run.json")
        try:
            return Description.model_validate(data)
        except ValidationError as error:
            raise UsageFault(f"{self.path / 'run.json'}: damaged: {explain(error)}") from error

    def sandboxes(self) -> list[dict[str, str]]:
        """What every sandbox that this run used said of itself, the first one first. Raises UsageFault."""
        if not (self.path / _SANDBOXES).exists():
            return []
        found = self.read_json(_SANDBOXES).get("used")
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise UsageFault(f"{self.path / _SANDBOXES}: damaged: used is missing or no list of tables")
        return found

    def note_sandbox(self, told: Mapping[str, str]) -> None:
        """Keep what a sandbox says of itself, once. Raises OSError, UsageFault."""
        used = self.sandboxes()
        if dict(told) not in used:
            self.write_json(_SANDBOXES, {"used": [*used, dict(told)]})

    def put_blob(self, data: bytes) -> str:
        """Store bytes, return their sha256."""
        name = hashlib.sha256(data).hexdigest()
        path = self._blob(name)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            replace_file(path, data)
        return name

    def get_blob(self, name: str) -> bytes:
        """Raises UsageFault when it is missing or no longer what its name says."""
        path = self._blob(name)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != name:
            raise UsageFault(f"{path}: damaged (its bytes do not match its name)")
        return data

    def put_packed(self, data: bytes) -> str:
        """Store bytes compressed, return the sha256 of them as they were given."""
        name = hashlib.sha256(data).hexdigest()
        path = self._packed(name)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            replace_file(path, zlib.compress(data, 1))
        return name

    def get_packed(self, name: str, most: int) -> bytes:
        """At most `most` bytes that were stored compressed. Raises UsageFault when missing, damaged or larger."""
        path = self._packed(name)
        try:
            data = zlib.decompressobj().decompress(path.read_bytes(), most + 1)
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror}") from error
        except zlib.error as error:
            raise UsageFault(f"{path}: damaged: {error}") from error
        if hashlib.sha256(data).hexdigest() != name:
            raise UsageFault(f"{path}: damaged (its bytes do not match its name)")
        return data

    def raw_packed(self, name: str) -> bytes:
        """The compressed bytes under a name, as they lie there. Raises UsageFault when they are missing."""
        try:
            return self._packed(name).read_bytes()
        except OSError as error:
            raise UsageFault(f"{self._packed(name)}: {error.strerror}") from error

    def has_packed(self, name: str) -> bool:
        """Whether compressed bytes lie under a name."""
        return self._packed(name).exists()

    def restore_packed(self, name: str, raw: bytes) -> None:
        """Put compressed bytes of another run under the name that they have there."""
        path = self._packed(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(raw)

    def _packed(self, name: str) -> Path:
        return self._blob(name).with_suffix(".z")

    def _blob(self, name: str) -> Path:
        """Where a blob lies. Raises UsageFault for a name that no blob has: a record could name any file."""
        if not _BLOB.fullmatch(name):
            raise UsageFault(f"{self.path / 'ledger.sqlite'}: {name[:40]!r} is the name of no blob")
        return self.path / "blobs" / name[:2] / name


def replace_file(path: Path, data: bytes, durable: bool = False, mode: int = 0o600) -> None:
    """Put `data` in place of `path` in one step; `durable`: it outlives a power cut."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_TEMPORARY)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
