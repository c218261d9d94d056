"""Frozen stores in a run directory: what was kept comes back, what is shared lies there once, damage is found."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from harness.outcome import UsageFault
from harness.rundir import RunDir
from harness.stores import CHUNK, keep_store, restore_store, write_files
from memory_probe.protocol import MemoryFault

SHARED = random.Random(5).randbytes(20 * CHUNK)


@pytest.fixture
def folder(tmp_path: Path) -> RunDir:
    (tmp_path / "blobs").mkdir()
    return RunDir(tmp_path)


def blobs(folder: RunDir) -> list[Path]:
    return sorted(folder.path.glob("blobs/*/*"))


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 17])
def test_what_was_kept_comes_back(folder: RunDir, size: int) -> None:
    files = {"a.sqlite": SHARED[:size], "deep/b.jsonl": b"\x00\xff" * 9, "ü": b""}
    blob = keep_store(folder, files)
    assert restore_store(folder, blob) == files
    assert keep_store(folder, dict(reversed(files.items()))) == blob
    assert restore_store(folder, keep_store(folder, {})) == {}


def test_what_two_stores_share_is_stored_once(folder: RunDir) -> None:
    first = keep_store(folder, {"m": SHARED})
    before = len(blobs(folder))
    changed = bytearray(SHARED + b"one more row")
    changed[7 * CHUNK + 3] ^= 1
    second = keep_store(folder, {"m": bytes(changed)})
    assert len(blobs(folder)) == before + 3, "a changed chunk, a new one and a manifest"
    assert restore_store(folder, first) == {"m": SHARED}
    assert restore_store(folder, second) == {"m": bytes(changed)}


def test_chunks_are_compressed(folder: RunDir) -> None:
    keep_store(folder, {"m": b"the same words again " * 100_000})
    assert sum(path.stat().st_size for path in blobs(folder)) < 100_000


def test_every_kind_of_damage_is_found(folder: RunDir) -> None:
    blob = keep_store(folder, {"m": SHARED[: 3 * CHUNK]})
    for path in blobs(folder):
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 1
        for damaged in (bytes(flipped), whole[:-20], b""):
            path.write_bytes(damaged)
            with pytest.raises(UsageFault, match="damaged"):
                restore_store(folder, blob)
        path.unlink()
        with pytest.raises(UsageFault, match="No such file"):
            restore_store(folder, blob)
        path.write_bytes(whole)
    assert restore_store(folder, blob) == {"m": SHARED[: 3 * CHUNK]}


def test_a_chunk_that_unpacks_without_end_is_refused(folder: RunDir) -> None:
    huge = folder.put_packed(bytes(50_000_000))
    blob = folder.put_blob(json.dumps({"m": {"size": 50_000_000, "chunks": [huge]}}).encode())
    with pytest.raises(UsageFault, match="damaged"):
        restore_store(folder, blob)


def test_a_manifest_must_be_one(folder: RunDir) -> None:
    chunk = folder.put_packed(b"abc")
    for text in ("[]", "{", '{"m": "' + chunk + '"}', '{"m": {"size": 3, "chunks": ["x"]}}'):
        with pytest.raises(UsageFault, match="not the manifest"):
            restore_store(folder, folder.put_blob(text.encode()))
    blob = folder.put_blob(json.dumps({"m": {"size": 4, "chunks": [chunk]}}).encode())
    with pytest.raises(UsageFault, match="do not make up m"):
        restore_store(folder, blob)


@pytest.mark.parametrize("name", ["../m", "/m", "a/../../m", "", "a\0b"])
def test_a_name_that_leads_out_is_refused(folder: RunDir, name: str) -> None:
    with pytest.raises(MemoryFault, match="outside"):
        keep_store(folder, {name: b"x"})
    with pytest.raises(MemoryFault, match="outside"):
        write_files(folder.path / "copy", {name: b"x"})
    chunk = folder.put_packed(b"x")
    blob = folder.put_blob(json.dumps({name: {"size": 1, "chunks": [chunk]}}).encode())
    with pytest.raises(UsageFault, match="outside"):
        restore_store(folder, blob)
