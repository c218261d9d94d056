"""A store whose process is killed at any moment is the old one or the new one, never a third."""

from __future__ import annotations

import itertools
import os
import random
import signal
import time
from pathlib import Path

import pytest

from memory_probe.protocol import Budget
from memory_probe.store.schema import FILE
from memory_probe.store.verify import verify

from .probe_kit import QUERY, episode, made, note, variant


def _live_on(folder: Path, acknowledged: int) -> None:
    """In the child: record and sleep until killed; one byte for every episode that was acknowledged."""
    memory = made(folder, variant("DF-hybrid"))
    for number in itertools.count():
        notes = [note(f"Note AB-{1000 + number} by the desk: `mail-{number}`. " + "x " * 200, 1)]
        if number % 3 == 2:
            notes.append(note(f"Note CD-{1000 + number}. This replaces AB-{1000 + number - 1}.", 2, "staleness"))
        memory.read(QUERY, Budget())
        memory.record(episode(*notes, passed=number % 4 != 0))
        os.write(acknowledged, b".")
        memory.sleep(notes[-1].date)


def _killed(folder: Path, after: int, seconds: float) -> int:
    """Fork a child, kill it `seconds` after it acknowledged `after` episodes, and say how many it acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            _live_on(folder, writer)
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        seen = len(pipe.read(after)) if after else 0
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return seen + len(pipe.read())


def _kill_many(folder: Path, times: int) -> None:
    chance, acknowledged, begun = random.Random(7), 0, 0
    for round_ in range(times):
        folder_now = folder / str(round_ // 10)  # a new namespace now and then: creation can be killed, too
        acknowledged = acknowledged if round_ % 10 else 0
        # from the very start, or after a little life however slow the machine is
        acknowledged += _killed(folder_now, chance.choice((0, 1, 2)), chance.uniform(0.0, 0.03))
        if not (folder_now / FILE).exists():
            assert acknowledged == 0
            continue
        assert verify(folder_now / FILE) == []
        memory = made(folder_now, variant("DF-hybrid"))
        held = memory._connection.execute("SELECT count(*) FROM raw").fetchone()[0]
        assert held >= acknowledged
        begun, acknowledged = begun + held, held
        memory.close()
    assert begun > times  # it lived between the kills


def test_a_store_survives_twenty_kills(tmp_path: Path) -> None:
    _kill_many(tmp_path, 20)


@pytest.mark.long
def test_a_store_survives_two_hundred_kills(tmp_path: Path) -> None:
    _kill_many(tmp_path, 200)
