"""What the tests of replay and rescore share: a finished run, and a picture of a folder that tells any change."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from containers.sandbox import Sandbox
from harness.bundle.opened import Opened, open_run
from harness.config import load
from harness.replaying.replay import Replayed, replay
from harness.run import execute, prepare
from oracles.solutions import OverlayFile
from tests.conftest import MINI

B0, ALL = "c1_label/B0/1/given", "c1_label/ALL/1/given"
Edit = Callable[[dict[str, Any]], None]


def played(out: Path, box: Sandbox, *words: str, places: dict[str, str] | None = None) -> Path:
    """A finished run of one seed; without `places` on our own traps."""
    config = load(None, ["seeds=1", *words], places)
    execute(prepare(config, out), lambda record: None, sandbox=box)
    return out


def files(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every file with its digest, inode and number of links."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            told = path.stat()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.relative_to(folder).as_posix()] = digest, told.st_ino, told.st_nlink
    return found


def play_mini(out: Path, box: Sandbox) -> Path:
    """A run of the mini trap: B0 fails and ALL passes, with either reader."""
    places = {"traps_dir": str(MINI / "traps"), "oracles_dir": str(MINI / "oracles")}
    return played(out, box, "conditions=B0,ALL", places=places)


def edit(out: Path, table: str, arm: str, change: Edit, where: str = "1") -> None:
    """Change the records of an arm in a ledger, as no program of ours would."""
    with sqlite3.connect(out / "ledger.sqlite") as db:
        rows = db.execute(f"SELECT id, record FROM {table} WHERE arm = ? AND {where}", (arm,)).fetchall()
        assert rows
        for id_, text in rows:
            record = json.loads(text)
            change(record)
            db.execute(f"UPDATE {table} SET record = ? WHERE id = ?", (json.dumps(record), id_))
    db.close()


def again(out: Path, box: Sandbox, *arms: str) -> Replayed:
    """A replay of these arms, or of all."""
    run = open_run(out, strange=True)
    return replay(run, box, 2, [r for r in run.records if r.arm in arms] if arms else None)


def seen(done: Replayed) -> list[tuple[str, str, str, str]]:
    """(reader, field, recorded, replayed) of each difference."""
    return [(d.reader, d.field, d.recorded, d.replayed) for d in done.differences]


def changed(run: Opened, source: bytes, solution: bytes | None = None) -> Opened:
    """The run with another oracle source, and another reference solution."""
    oracle = run.oracles["c1_label"]
    overlays = dict(oracle.overlays)
    if solution is not None:
        overlays["reference"] = {"src/mini/labels.py": OverlayFile(solution, False)}
    return replace(run, oracles={"c1_label": replace(oracle, source=source, overlays=overlays)})
