"""A new run directory made from a finished run: the same sessions and artifacts with other endings.

Invariant: everything is copied and nothing linked, so that the source stays as it is whatever happens to the copy; the
description is written last, so that a copy that was cut short is no run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.bundle.opened import Opened
from harness.ledger import Ledger, Row
from harness.outcome import UsageFault
from harness.records import ArmRecord
from harness.rundir import RunDir

#: What a run holds beside its ledger and its description. Reports and other results are made anew.
ARTIFACTS = (
    *("facts.json", "background.json", "commitments.json", "sandbox.json", "conformance.json", "spent.json"),
    *("lost.jsonl", "blobs", "objects.git"),
)


def write_run(
    run: Opened, records: Iterable[ArmRecord], out: Path, told: Mapping[str, Any], others: Mapping[str, Path]
) -> RunDir:
    """Write the run directory `out`: `records` with the sessions of their arms, artifacts, and run.json with the keys
    `told` put over the source's. `others` are files and folders to copy beside the artifacts, by their name. Earlier
    attempts go along as they are, because what they used of a model was paid for.

    Raises UsageFault when `out` cannot be taken (see `refuse_taken`) or written.
    """
    refuse_taken(run, out)
    source = run.folder
    rows = {record.arm: record for record in records}
    folder = RunDir.create(out)
    try:
        for name, place in ({name: source.path / name for name in ARTIFACTS} | dict(others)).items():
            copy_plain(place, folder.path / name)
        with Ledger(source.ledger, read_only=True) as old, Ledger(folder.ledger) as new:
            new.restore("session", (row for row in old.rows("session") if row.arm in rows))
            arms = (row for row in old.rows("arm") if row.arm in rows)
            new.restore("arm", (_now(row, rows[row.arm]) for row in arms))
        folder.write_json("run.json", {**source.read_json("run.json"), **told})
    except OSError as error:
        raise UsageFault(f"{out}: {error.strerror or error}; the new run is not complete") from error
    finally:
        folder.unlock()
    return folder


def _now(row: Row, record: ArmRecord) -> Row:
    """The row of the attempt that the record tells of, with the record; another row as it is."""
    return Row(*row[:3], record.model_dump_json()) if row.attempt == record.attempt else row


def refuse_taken(run: Opened, out: Path) -> None:
    """Raises UsageFault when there is something at `out`, or it lies in the run, which is never written."""
    if out.resolve().is_relative_to(run.folder.path.resolve()):
        raise UsageFault(f"{out}: lies in the run itself, which is never written (remedy: name another directory)")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageFault(f"{out}: there is something already (remedy: name a new directory)")


def copy_plain(source: Path, target: Path) -> None:
    """Copy a file or folder, if there is one, without caches of Python.

    Raises UsageFault for a link or device; OSError.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for path in _walk(source):
        inner = path.relative_to(source)
        if "__pycache__" in inner.parts:
            continue
        place = target / inner
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise UsageFault(f"{path}: neither a file nor a folder")
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            shutil.copyfile(path, place)
            place.chmod(path.stat().st_mode & 0o777)


def _walk(source: Path) -> Iterable[Path]:
    if source.exists() or source.is_symlink():
        yield source
    if source.is_dir() and not source.is_symlink():
        for folder, names, files in os.walk(source, onerror=_raise):
            yield from (Path(folder) / name for name in (*names, *files))


def _raise(error: OSError) -> None:
    raise error
