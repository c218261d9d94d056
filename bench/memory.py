"""What memory costs: ten thousand memories in one namespace, a background of 2,000 for an arm, a fold with one.

Invariant: every memory is filled and asked through its protocol alone, and the two sides of a ratio run in turn.
"""

from __future__ import annotations

import datetime as dt
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

from bench.measure import Figure, in_turn, note, ratio, seconds
from containers.sandbox import Sandbox
from harness.config import RunConfig, load
from harness.haystack import Haystack, draw_all
from harness.run import execute, prepare
from memory_probe.ladder import Condition, Opening, conditions
from memory_probe.protocol import Budget, Episode, Memory, Note, Query, Scope
from traps.background_file import load_background

_DAY = dt.date(2026, 1, 5)
_FILES = 300
_BATCH = 200  # notes of one recorded session
_HAYSTACK = 2000
_CONDITIONS = ("DF-hybrid", "DF", "B5", "B1", "B7")


def figures(box: Sandbox, mini_root: Path) -> Iterator[Figure]:
    """All figures of memory."""
    yield from namespace_figures()
    yield from arm_figures(mini_root)
    yield fold_figure(box)


# -- one namespace -------------------------------------------------------------------------------------------------


class _World:
    """Made-up notes and questions, the same ones every time."""

    def __init__(self) -> None:
        self.chance = random.Random(11)
        letters = "abcdefghijklmnopqrst"
        self.words = ["".join(self.chance.choices(letters, k=self.chance.randint(3, 9))) for _ in range(3000)]

    def text(self, size: int) -> str:
        return " ".join(self.chance.choices(self.words, k=size))

    def note(self, number: int, kind: str = "human_feedback", extra: str = "") -> Note:
        author = f"team {number % 40}"
        text = f"Note AB-{100_000 + number} by {author}: {self.text(60)}. {extra}"
        scope = Scope((f"src/m{number % _FILES}.py",), (), f"{self.words[number % 9]} mail")
        return Note(text, kind, author, 2, _DAY + dt.timedelta(number // 20), None, scope)

    def query(self, index: int) -> Query:
        paths = tuple(f"src/m{self.chance.randrange(_FILES)}.py" for _ in range(index % 4))
        return Query(self.text(150), paths, (), "demo", f"{self.words[index % 9]} mail", _DAY + dt.timedelta(900))


def _tell(memory: Memory, *notes: Note) -> None:
    """Record one session and sleep."""
    date = notes[-1].date
    memory.record(Episode(1, "demo", "mail", date, "p", "ran the checks", "+++ b/src/m1.py\n+x", True, "", notes))
    memory.sleep(date)


def _used(folder: Path, size: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each read, and of each record + sleep, in a namespace that holds `size` memories."""
    world, memory = _World(), conditions()["DF"].open(Opening(folder))
    for first in range(0, size, _BATCH):
        _tell(memory, *(world.note(number) for number in range(first, first + _BATCH)))
    queries = [world.query(index) for index in range(101)]
    reads = [1000 * seconds(partial(memory.read, query, Budget())) for query in queries]
    fresh = []
    for index in range(41):
        extra = f"This replaces AB-{100_000 + index}." if index % 3 == 0 else ""
        fresh.append(world.note(size + index, "staleness" if index % 5 == 0 else "human_feedback", extra))
    tells = [1000 * seconds(partial(_tell, memory, each)) for each in fresh]
    memory.close()
    return reads, tells


def namespace_figures() -> Iterator[Figure]:
    """Reading and telling at 10,000 memories, and how both grew since 1,000."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_used(Path(folder) / str(size), size) for size in (1000, 10_000))
    (reads, tells), (few_reads, few_tells) = large, small
    middle = statistics.median
    yield Figure("read of 10,000 memories, p50 (ms)", middle(reads), 15)
    yield Figure("read of 10,000 memories, p95 (ms)", statistics.quantiles(reads, n=20)[18], 40)
    yield Figure("record and sleep of one episode at 10,000, p50 (ms)", middle(tells), 30)
    text = "10 is linear; " + note(reads, few_reads, 1)
    yield Figure("read, 10,000 memories over 1,000", middle(reads) / middle(few_reads), 10, note=text)
    text = "10 is linear; " + note(tells, few_tells, 1)
    yield Figure("record and sleep, 10,000 memories over 1,000", middle(tells) / middle(few_tells), 10, note=text)


# -- a background for an arm ---------------------------------------------------------------------------------------


def arm_figures(mini_root: Path) -> Iterator[Figure]:
    """Filling and opening the namespace of an arm, once the store of the background is there."""
    backgrounds = {"mini": load_background(mini_root / "traps" / "fixtures", "mini")}
    with tempfile.TemporaryDirectory() as folder:
        stack = Haystack(Path(folder), backgrounds, draw_all(backgrounds, _HAYSTACK, [1], {}))
        for code in _CONDITIONS:
            condition = conditions()[code]
            built, *took = [_arm(stack, condition, Path(folder) / "arm") for _ in range(10)]
            name = f"set-up of a {code} arm, background of {_HAYSTACK:,} (ms)"
            yield Figure(name, 1000 * statistics.median(took), 50, note=f"shared store built in {built:.1f} s")


def _arm(stack: Haystack, condition: Condition, namespace: Path) -> float:
    """Seconds until an arm has its memory."""
    begun = time.perf_counter()
    stack.fill(condition, "mini", 1, namespace)
    memory = condition.open(Opening(namespace))
    took = time.perf_counter() - begun
    memory.close()
    shutil.rmtree(namespace)
    return took


# -- a whole fold --------------------------------------------------------------------------------------------------


def fold_figure(box: Sandbox) -> Figure:
    """All ten traps with a background of 200 over the same fold without; every store is built in the timed run."""
    with tempfile.TemporaryDirectory() as folder:
        told, plain = in_turn(_fold(box, Path(folder), 200), _fold(box, Path(folder), 0), 2)
    return Figure("the fold with a background of 200 over it without", ratio(told, plain), 1.3, note=note(told, plain))


def _fold(box: Sandbox, folder: Path, background: int) -> Callable[[], None]:
    config = load(None, ["fold=quick", "conditions=B5,DF-hybrid,ALL", "seeds=1", f"haystack={background}"])
    rounds = count()
    return lambda: _run(config, folder / f"{background}-{next(rounds)}", box)


def _run(config: RunConfig, out: Path, box: Sandbox) -> None:
    execute(prepare(config, out), lambda record: None, sandbox=box)
    shutil.rmtree(out)
