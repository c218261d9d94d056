"""A replay against the scoring that it repeats: seconds of judging, one worker each, in the same warm sandbox.

Invariant: both sides judge the same changes one after the other; with two workers a replay, which does nothing else,
would share its cores with itself, and a run with sessions, which would compare two different things.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Figure
from containers.sandbox import Sandbox
from harness.bundle.opened import open_run
from harness.config import load
from harness.records import ArmRecord
from harness.replaying.replay import replay
from harness.run import execute, prepare

ROUNDS = 5
_WORDS = ("traps=c1_return_form,c2_broker_lane,c7_archive_check", "conditions=B0,B5,EVIDENCE", "seeds=1", "jobs=1")


def figures(box: Sandbox) -> Iterator[Figure]:
    """Judging in a replay over judging in its run."""
    pairs = [_round(box) for _ in range(ROUNDS)]
    value = statistics.median(again / first for first, again in pairs)
    text = f"{ROUNDS} runs, each replayed; medians {statistics.median(f for f, _ in pairs):.2f} s in the run and "
    yield Figure(
        "judging in a replay over judging in its run", value, 1.05, note=f"{text}{_middle(pairs):.2f} s after it"
    )


def _middle(pairs: list[tuple[float, float]]) -> float:
    return statistics.median(again for _, again in pairs)


def _round(box: Sandbox) -> tuple[float, float]:
    """(seconds of judging in a run, in its replay)."""
    with tempfile.TemporaryDirectory() as folder:
        records: list[ArmRecord] = []
        execute(prepare(load(None, _WORDS), Path(folder) / "run"), records.append, sandbox=box)
        done = replay(open_run(Path(folder) / "run"), box, 1)
        assert done.same, done.differences
        return done.recorded, done.judging
