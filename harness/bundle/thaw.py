"""A bundle becomes a run directory again, in a folder of ours: whole with the key, the public part without.

Invariant: files get names that we make, never one that a bundle says, but for those of `sources`, which are checked;
the ledger and the objects are written by our own code from data that was read as text; nothing of the bundle is
executed, and nothing is written outside of the folder.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.archive import SPENT
from harness.batches import Listing, put_many
from harness.bundle import layout, sources
from harness.bundle.container import BundleError
from harness.bundle.lost import lines_of, read_lost
from harness.bundle.reader import Bundle
from harness.bundle.rows import Told, read_lines
from harness.bundle.tables import TABLES, open_table, parsed
from harness.bundle.trees import read_trees
from harness.ledger import Ledger
from harness.leftovers import LOST
from harness.objects import ObjectStore
from harness.records import ArmRecord, SessionRecord
from harness.rundir import RunDir
from harness.stores import CHUNK

#: Members of the public part by the file that they become.
_FILES = {
    layout.COMMITMENTS: "commitments.json",
    layout.SANDBOXES: "sandbox.json",
    layout.PLAN: "plan.json",
    layout.AMENDMENTS: "amendments.json",
}


def put_public(home: Path, members: Mapping[str, bytes]) -> RunDir:
    """The public part as a run directory: enough for accounting, statistics and the report."""
    folder = RunDir.create(home)
    try:
        _put_files(folder, members, {})
        (home / SPENT).write_bytes(members[layout.SPENT])
        _put_ledger(folder, members, layout.ARMS, layout.SESSIONS)
        _put_lost(folder, members, layout.LOST)
    finally:
        folder.unlock()
    return folder


def thaw_public(bundle: Bundle, home: Path) -> RunDir:
    """As `put_public`, of a bundle."""
    if bundle.has(layout.LOST) != bundle.has(layout.SEALED_LOST):
        raise BundleError(f"{layout.LOST}, {layout.SEALED_LOST}: one is here without the other")
    names = (layout.RUN, *_FILES, layout.SPENT, layout.ARMS, layout.SESSIONS, layout.LOST)
    wanted = [n for n in names if bundle.has(n)]
    return put_public(home, {name: bundle.get(name) for name in wanted})


def thaw(bundle: Bundle, home: Path) -> RunDir:
    """The whole run with its traps, oracles and hosted archives, below `home`, an empty folder of ours.

    Raises BundleError, and UsageFault without the key.
    """
    thaw_sources(bundle, home / "sources")
    folder = RunDir.create(home / "run")
    try:
        names = (layout.RUN, *_FILES, layout.SEALED_ARMS, layout.SEALED_SESSIONS, layout.SEALED_LOST)
        wanted = [n for n in names if bundle.has(n)]
        members = {name: bundle.get(name) for name in wanted}
        _put_files(folder, members, _places(home / "sources"), bundle.manifest.root)
        _put_ledger(folder, members, layout.SEALED_ARMS, layout.SEALED_SESSIONS)
        _put_lost(folder, members, layout.SEALED_LOST)
        for name, path in ((layout.FACTS, folder.facts), (layout.BACKGROUND, folder.background)):
            if bundle.has(name):
                table(name, bundle.get(name))
                path.write_bytes(bundle.get(name))
        _put_blobs(bundle, folder)
        _put_trees(bundle, folder)
    finally:
        folder.unlock()
    return folder


def thaw_sources(bundle: Bundle, folder: Path) -> None:
    """Traps, oracles, fixtures and hosted archives."""
    told = sources.read_index(bundle.get(layout.SOURCES))
    folder.mkdir(parents=True)
    sources.written(folder, told, dict(bundle.packs(layout.SOURCE_PACK)))


def _places(folder: Path) -> dict[str, str]:
    return {"traps_dir": str(folder / "traps"), "oracles_dir": str(folder / "oracles"), "cache": str(folder / "cache")}


def _put_files(folder: RunDir, members: Mapping[str, bytes], places: Mapping[str, str], root: str = "") -> None:
    told = {name: table(name, members[name]) for name in (layout.RUN, layout.SPENT, *_FILES) if name in members}
    data = told[layout.RUN]
    config = data.get("config")
    if not isinstance(config, dict):
        raise BundleError(f"{layout.RUN}: config is missing")
    whose = {"unpacked": root} if root else {}
    text = json.dumps({**data, "config": {**config, **places}, **whose})
    (folder.path / "run.json").write_text(text, encoding="utf-8")
    for name, file in _FILES.items():
        if name in members:
            (folder.path / file).write_bytes(members[name])


def table(name: str, data: bytes) -> dict[str, Any]:
    """A member that is one JSON table of the version that is known here. Raises BundleError."""
    return open_table(name, data) if name in TABLES else parsed(name, data)


def _put_ledger(folder: RunDir, members: Mapping[str, bytes], arms: str, sessions: str) -> None:
    told_arms: list[Told[ArmRecord]] = list(read_lines(arms, members[arms], ArmRecord))
    told_sessions: list[Told[SessionRecord]] = list(read_lines(sessions, members[sessions], SessionRecord))
    seen: set[tuple[str, int]] = set()
    for told in told_arms:
        if (told.arm, told.attempt) in seen:
            raise BundleError(f"{arms}: attempt {told.attempt} of {told.arm} is there twice")
        if (told.arm, told.attempt) != (told.record.arm, told.record.attempt):
            raise BundleError(f"{arms}: the record of {told.arm} says that it is {told.record.arm}")
        seen.add((told.arm, told.attempt))
    with Ledger(folder.ledger) as ledger:
        ledger.restore("session", (told.row() for told in told_sessions))
        ledger.restore("arm", (told.row() for told in told_arms))


def _put_lost(folder: RunDir, members: Mapping[str, bytes], name: str) -> None:
    if name in members:
        (folder.path / LOST).write_bytes(lines_of(read_lost(name, members[name])))


def _put_blobs(bundle: Bundle, folder: RunDir) -> None:
    for _, data in bundle.packs(layout.BLOB_PACK):
        folder.put_blob(data)
    for digest, raw in bundle.packs(layout.CHUNK_PACK, bounded(CHUNK)):
        folder.restore_packed(digest, raw)


def bounded(most: int) -> Callable[[bytes], bytes]:
    """Unpacks at most so many bytes, to the end; raises BundleError for anything else."""

    def unpacked(raw: bytes) -> bytes:
        machine = zlib.decompressobj()
        try:
            found = machine.decompress(raw, most + 1)
        except zlib.error as error:
            raise BundleError(f"{layout.CHUNK_PACK}: a chunk cannot be unpacked ({error})") from None
        if len(found) > most or not machine.eof or machine.unused_data:
            raise BundleError(f"{layout.CHUNK_PACK}: a chunk is larger than {most} bytes, or goes on behind its end")
        return found

    return unpacked


def _put_trees(bundle: Bundle, folder: RunDir) -> None:
    bodies = dict(bundle.packs(layout.FILE_PACK))
    trees: dict[str, Listing] = read_trees(bundle.get(layout.TREES), bodies)
    store = ObjectStore(folder.objects)
    put_many(store, trees, bodies)
    if any(not files for files in trees.values()):
        store.put({})
