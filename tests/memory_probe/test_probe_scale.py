"""Ten thousand memories in one namespace: reading, recording and sleeping stay quick."""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles

import pytest

from memory_probe.probe import ProbeMemory
from memory_probe.protocol import Budget, Note, Query

from .probe_kit import DAY, episode, made, note

COUNT = 10_000
CHANCE = random.Random(11)
WORDS = ["".join(CHANCE.choices("abcdefghijklmnopqrst", k=CHANCE.randint(3, 9))) for _ in range(3000)]
#: Processor time of this process, so that what else runs on the machine does not matter.
CLOCK = time.process_time


def some(count: int) -> str:
    return " ".join(CHANCE.choices(WORDS, k=count))


def told(number: int, kind: str = "human_feedback", extra: str = "") -> Note:
    files = (f"src/m{number % 300}.py",)
    text = f"Note AB-{100_000 + number} by team {number % 40}: {some(60)}. {extra}"
    return note(text, number // 20, kind, files=files, task=f"{WORDS[number % 9]} mail", author=f"team {number % 40}")


def timed(times: int, call: Callable[[int], object]) -> tuple[float, float]:
    """(median, 95th percentile) in milliseconds."""
    took = []
    for index in range(times):
        begun = CLOCK()
        call(index)
        took.append(1000 * (CLOCK() - begun))
    cuts = quantiles(took, n=20)
    return cuts[9], cuts[18]


@pytest.mark.slow
def test_ten_thousand_memories(tmp_path: Path) -> None:
    memory: ProbeMemory = made(tmp_path)
    for first in range(0, COUNT, 200):
        memory.record(episode(*(told(n) for n in range(first, first + 200)), day=first // 20))
        memory.sleep(DAY + dt.timedelta(first // 20))

    def ask(index: int) -> None:
        paths = tuple(f"src/m{CHANCE.randint(0, 299)}.py" for _ in range(index % 4))
        query = Query(some(150), paths, (), "demo", f"{WORDS[index % 9]} mail", DAY + dt.timedelta(600))
        assert memory.read(query, Budget()).considered >= COUNT

    def one_more(index: int) -> None:
        extra = f"This replaces AB-{100_000 + index}." if index % 3 == 0 else ""
        each = told(COUNT + index, "staleness" if index % 5 == 0 else "human_feedback", extra)
        memory.record(episode(each, day=510))
        memory.sleep(each.date)

    median, high = timed(60, ask)
    assert median < 15
    assert high < 40
    median, _ = timed(40, one_more)
    assert median < 30
