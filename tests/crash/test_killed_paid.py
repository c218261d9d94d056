"""SIGKILL while an agent calls a model: what was asked for is counted once, and what was finished is kept."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.ledger import Ledger
from harness.leftovers import lost
from harness.records import SessionRecord
from harness.rundir import RunDir
from tests.crash.conftest import Drive, endings, leftovers
from tests.harness.model_kit import WORK, words
from tests.model.script import Function, Seen, Turn
from tests.model.server import ModelServer

MORE = ("conditions=B5", "jobs=1")
DONE = {("c1_label/B5/1/given", "-"): ("pass", "")}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(WORK) as running:
        yield running


def sessions(out: Path) -> list[tuple[int, SessionRecord]]:
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        return [(attempt, each) for (_, attempt), found in ledger.all_sessions().items() for each in found]


def paid(out: Path) -> int:
    """Calls that the run says it has made, those of killed sessions too."""
    uses = [each.model for _, each in sessions(out) if each.model and not each.paid_in]
    return sum(use.calls for use in [*uses, *lost(RunDir.open(out))])


@pytest.mark.parametrize(
    ("kill", "asked", "taken"),
    [
        pytest.param(("s2:run", 1), 2, 1, id="between two sessions"),
        pytest.param(("s1:captured", 1), 2, 0, id="before a session is committed", marks=pytest.mark.long),
        pytest.param(("ledger:session", 2), 4, 2, id="right after it is committed", marks=pytest.mark.long),
        pytest.param(("s3:score", 1), 6, 3, id="before the verdict", marks=pytest.mark.long),
    ],
)
def test_a_finished_session_is_not_paid_twice(
    kill: tuple[str, int], asked: int, taken: int, drive: Drive, server: ModelServer, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    ended = drive(out, words(server, *MORE), kill)
    assert (ended.signal, len(server.log.entries())) == (signal.SIGKILL, asked)
    ended = drive(out, words(server, *MORE))
    assert ended.exit == 0, ended.said
    assert endings(out) == DONE
    assert sum(1 for _, each in sessions(out) if each.paid_in) == taken
    assert len(server.log.entries()) == asked + 2 * (3 - taken)
    assert paid(out) == len(server.log.entries())
    assert leftovers(out) == []
    assert not any((out / "exchanges").iterdir())


def test_a_session_that_is_killed_in_the_middle_of_a_call_is_counted(drive: Drive, tmp_path: Path) -> None:
    out = tmp_path / "run"
    killed: list[int] = []

    def work(seen: Seen) -> Turn:
        if not killed and "`full(name)" in seen.text() and seen.turn == 2:
            killed.append(int((tmp_path / "run.pid").read_text()))
            os.kill(killed[0], signal.SIGKILL)
        return WORK.turn(seen)

    with ModelServer(Function(work)) as server:
        ended = drive(out, words(server, *MORE))
        assert ended.signal == signal.SIGKILL
        before = Counter(each.number for _, each in sessions(out))
        assert (len(killed), before) == (1, Counter({1: 1}))
        ended = drive(out, words(server, *MORE))
        assert ended.exit == 0, ended.said
        assert endings(out) == DONE
        asked = len(server.log.entries())
    assert asked == 2 + 2 + 4  # S1; S2, the second of its calls unheard; S2 again and S3
    (gone,) = lost(RunDir.open(out))
    assert (gone.calls, gone.usd, [t.input for t in gone.tokens]) == (2, None, [None])
    assert paid(out) == asked
