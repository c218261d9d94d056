"""The run directory: what lies where, who may write, and content-addressed blobs.

    run.json      resolved config, plan meaning and digests, versions (re-runnable)
    commitments.json  public commitments of every fact, written before the first session
    facts.json    the facts themselves (0600)
    ledger.sqlite objects.git/ blobs/ report.md

Invariant: one driver at a time holds the lock; files are replaced atomically and a directory that is not a run is
never written into.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from harness.outcome import UsageFault

SCHEMA = 1


class RunDir:
    """A run directory at `path` (which must exist, see `create`)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @property
    def facts(self) -> Path:
        return self.path / "facts.json"

    @property
    def ledger(self) -> Path:
        return self.path / "ledger.sqlite"

    @property
    def objects(self) -> Path:
        return self.path / "objects.git"

    @staticmethod
    def create(path: Path) -> RunDir:
        """Make the directory. Raises UsageFault when it cannot be written or holds something else."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()) and not (path / "run.json").exists():
                raise UsageFault(f"{path}: not empty and not a run (remedy: name another directory with --out)")
            (path / "blobs").mkdir(exist_ok=True)
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror} (remedy: name a writable directory with --out)") from error
        return RunDir(path)

    @staticmethod
    def open(path: Path) -> RunDir:
        """An existing run. Raises UsageFault when there is none."""
        if not (path / "run.json").is_file():
            raise UsageFault(f"{path}: no run here (run.json is missing)")
        return RunDir(path)

    def lock(self) -> None:
        """Become the driver. Raises UsageFault while another one is alive."""
        self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageFault(f"{self.path}: another process is driving this run") from error

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def write_json(self, name: str, data: dict[str, Any]) -> None:
        """Replace a file atomically; the schema version is added."""
        self._replace(self.path / name, json.dumps({"schema": SCHEMA, **data}, indent=1, ensure_ascii=False).encode())

    def read_json(self, name: str) -> dict[str, Any]:
        """Raises UsageFault for a missing or damaged file, or a version that is not known."""
        path = self.path / name
        try:
            data: dict[str, Any] = json.loads(path.read_bytes())
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror}") from error
        except ValueError as error:
            raise UsageFault(f"{path}: damaged: {error}") from error
        if data.get("schema") != SCHEMA:
            raise UsageFault(f"{path}: schema {data.get('schema')!r} is not known here (expected {SCHEMA})")
        return data

    def put_blob(self, data: bytes) -> str:
        """Store bytes, return their sha256."""
        name = hashlib.sha256(data).hexdigest()
        path = self.path / "blobs" / name[:2] / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._replace(path, data)
        return name

    def get_blob(self, name: str) -> bytes:
        """Raises UsageFault when it is missing or no longer what its name says."""
        path = self.path / "blobs" / name[:2] / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != name:
            raise UsageFault(f"{path}: damaged (its bytes do not match its name)")
        return data

    def _replace(self, path: Path, data: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
