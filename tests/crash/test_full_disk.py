"""A disk that fills up at some point of a run: our trouble is told as ours, and with room again the run completes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.ledger import Ledger
from harness.outcome import Boundary, Outcome
from tests.crash.conftest import WORDS, Drive, check_facts, endings, leftovers

FILLS = [("run:start", 1), ("s1:captured", 1), ("s2:record", 2), ("ledger:before-arm", 2)]
OURS = {Boundary.LEDGER, Boundary.SANDBOX}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MiB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.long
@pytest.mark.parametrize("fill", FILLS, ids=[f"{point}-{n}" for point, n in FILLS])
def test_a_full_disk_is_our_trouble_and_passes(
    fill: tuple[str, int], drive: Drive, undisturbed: Path, disk: Path, tmp_path: Path
) -> None:
    out, source = disk / "run", {"facts_from": str(undisturbed)}
    ended = drive(out, WORDS, base=source, fill=fill, notes=tmp_path / "run")
    assert (disk / "ballast").exists(), "the disk was filled"
    assert ended.signal == 0
    assert ended.exit in (0, 2), ended.said
    assert "\n" not in ended.said
    (disk / "ballast").unlink()
    facts = (out / "facts.json").read_bytes()
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        records = list(ledger.arms())
    bad = [e for r in records for e in r.endings if e.outcome == Outcome.INVALID]
    assert {e.boundary for e in bad} <= OURS, bad
    assert {e.outcome for r in records for e in r.endings} <= {Outcome.INVALID, Outcome.PASS, Outcome.FAILED}
    assert ended.exit == 2 or bad, "nothing was said of the full disk"
    resumed = drive(out, WORDS, base=source)
    assert resumed.exit == 0, resumed.said
    assert endings(out) == endings(undisturbed)
    assert not any(outcome == Outcome.INVALID for outcome, _ in endings(out).values())
    assert leftovers(out) == []
    check_facts(out, facts)


@pytest.mark.long
@pytest.mark.parametrize("size", ["16k", "256k"])
def test_the_command_says_in_one_line_that_the_disk_is_full(size: str, disk: Path, mini: dict[str, str]) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)
    out = disk / "run"
    words = [*WORDS[:1], "conditions=B0", *WORDS[2:], *(f"{k}={v}" for k, v in mini.items())]
    done = _dreambench("run", *words, "--out", str(out))
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert "No space left" in done.stderr + done.stdout or "full" in done.stderr, (done.stderr, done.stdout)
    subprocess.run(["mount", "-o", "remount,size=16m", disk], check=True)
    again = _dreambench("run", *words, "--out", str(out), "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["complete"] is True
    assert leftovers(out) == []


def _dreambench(*words: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("dreambench"))
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=200, check=False, cwd="/")
