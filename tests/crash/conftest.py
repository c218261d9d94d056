"""Drivers that can be killed, and what a run directory must look like afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import draw as drawing
from harness.ledger import Ledger

DRIVER = Path(__file__).with_name("driver.py")
WORDS = ("seeds=1", "conditions=B0,B5", "readers=careful", "jobs=1")
Table = dict[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class Ended:
    """How a driver ended: by a signal (0: none), or with an exit code and what it said."""

    signal: int
    exit: int | None
    said: str


Drive = Callable[..., Ended]


@pytest.fixture(scope="session")
def drive(mini: Mapping[str, str]) -> Iterator[Drive]:
    """`drive(out, words, kill=(point, n))`: one driver process over a run directory, killed at a point or not."""
    zygote = subprocess.Popen([sys.executable, str(DRIVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert zygote.stdin is not None
    assert zygote.stdout is not None

    def run(
        out: Path,
        words: Sequence[str],
        kill: tuple[str, int] | None = None,
        base: Mapping[str, str] | None = None,
        fill: tuple[str, int] | None = None,
        notes: Path | None = None,
    ) -> Ended:
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        job = {
            "out": str(out),
            "notes": str(notes or out),
            "words": list(words),
            "base": {**mini, **(base or {})},
            "kill": kill,
            "fill": fill,
        }
        zygote.stdin.write(json.dumps(job) + "\n")
        zygote.stdin.flush()
        return Ended(**json.loads(zygote.stdout.readline()))

    yield run
    zygote.stdin.close()
    zygote.wait(timeout=20)


@pytest.fixture(scope="session")
def undisturbed(drive: Drive, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbs; the others reuse its draw."""
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    assert drive(out, WORDS).exit == 0
    assert len(endings(out)) == 2
    return out


def endings(out: Path) -> Table:
    """(arm, reader) -> (outcome, cause), of the newest records."""
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        records = list(ledger.arms())
    counts = Counter(r.arm for r in records)
    assert set(counts.values()) <= {1}, f"more than one newest record: {counts}"
    return {(r.arm, e.reader): (e.outcome.value, e.cause) for r in records for e in r.endings}


def alive(children: Path, patience: float = 10.0) -> list[int]:
    """Those of the noted processes that still live after `patience` seconds (a pid that was reused does not count)."""
    noted = [(int(pid), start) for pid, start in json.loads(children.read_text())]
    until = time.monotonic() + patience
    while (left := [pid for pid, start in noted if _same(pid, start)]) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _same(pid: int, start: str) -> bool:
    try:
        rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return rest[19] == start and rest[0] != "Z"


def leftovers(out: Path) -> list[str]:
    """Scratch and temporary files, anywhere in a run directory."""
    return [
        str(p.relative_to(out))
        for p in out.rglob("*")
        if p.name.startswith(("stores-", ".new-", "tmp_", "fast_import"))
    ]


def check_facts(out: Path, before: bytes) -> None:
    """The facts are as they were and private, and open every published commitment."""
    assert (out / "facts.json").read_bytes() == before
    assert (out / "facts.json").stat().st_mode & 0o777 == 0o600
    published = json.loads((out / "commitments.json").read_text())
    draws = drawing.load(out / "facts.json")
    assert published["root"] == drawing.draw_digest(draws)
    assert published["commitments"] == {f"{t}/{s}": d.commitments() for (t, s), d in draws.items()}
