"""mini-swe-agent on the host, the real program: what ends a command, the sandbox, its process and the harness."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.agents.mini_swe_outside import MiniSweOutsideAgent
from harness.config import ModelConfig

from ...model.script import Shell, Steps
from .cases import DONE, WRITE
from .kit import LIMITS, MODEL, TREE, play
from .outside_kit import Driven, answered, processes, programs, running, until

pytestmark = pytest.mark.long


class Quick(MiniSweOutsideAgent):
    """A command has two seconds."""

    def __init__(self) -> None:
        super().__init__(ModelConfig(name=MODEL))
        self._words = [*self._words, "--config", "environment.timeout=2"]


@pytest.fixture
def agent() -> MiniSweOutsideAgent:
    return MiniSweOutsideAgent(ModelConfig(name=MODEL))


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    assert programs() == []


def test_a_command_that_never_ends_is_killed(box: Sandbox, tmp_path: Path) -> None:
    agent = Quick()
    never = Shell("echo begun; (sleep 777 & sleep 777); echo later")
    script = Steps((never, Shell("sleep 0.2; cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), *WRITE.turns))
    played = play(agent, Driven(box, agent), script, tmp_path)
    assert (played.result.exit, played.tree()) == (0, DONE), played.told()
    first, second = (answered(played, number) for number in (1, 2))
    assert "begun" in first
    assert "timed out after 2 seconds" in first
    assert "later" not in first.partition("An error occurred")[0]
    assert "commands.py" in second
    assert "sleep 777" not in second


def test_a_command_that_lets_go_is_not_waited_for(box: Sandbox, tmp_path: Path) -> None:
    """It left its group and holds the output open: the time of a command is over all the same."""
    agent = Quick()
    played = play(agent, Driven(box, agent), Steps((Shell("setsid sleep 777"), *WRITE.turns)), tmp_path)
    assert (played.result.exit, played.tree()) == (0, DONE), played.told()
    assert "timed out after 2 seconds" in answered(played, 1)


@pytest.mark.parametrize("how", ["kill -9 -1", "kill -STOP $PPID; sleep 1; kill -9 $PPID"])
def test_commands_that_end_what_answers_them(
    how: str, agent: MiniSweOutsideAgent, box: Sandbox, tmp_path: Path
) -> None:
    played = play(agent, Driven(box, agent), Steps((*WRITE.turns, Shell(how))), tmp_path)
    assert (played.result.exit, played.result.timed_out) == (None, False), played.told()
    assert (played.tree(), played.ledger.calls) == (DONE, 2)


@pytest.mark.parametrize("how", ["sleep 100", "kill -STOP $PPID"])
def test_the_time_is_over(how: str, agent: MiniSweOutsideAgent, box: Sandbox, tmp_path: Path) -> None:
    """What was written until then comes out."""
    script = Steps((*WRITE.turns, Shell(how)))
    played = play(agent, Driven(box, agent), script, tmp_path, limits=replace(LIMITS, wall=20.0))
    assert (played.result.exit, played.result.timed_out, played.tree()) == (None, True, DONE), played.told()
    assert "wall" in played.result.hit


def test_killing_its_process_ends_the_sandbox(agent: MiniSweOutsideAgent, box: Sandbox, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill() -> None:
        if until(lambda: running("sleep", "25")):
            killed.extend(programs())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    watch = threading.Thread(target=kill)
    watch.start()
    script = Steps((Shell("touch out.txt; sleep 25"), *WRITE.turns))
    played = play(agent, Driven(box, agent), script, tmp_path)
    assert running("sleep", "25") == []  # it was not waited for
    watch.join()
    assert len(killed) == 1
    assert (played.result.exit, played.result.signal, played.result.timed_out) == (None, 9, False), played.told()
    assert (played.tree(), played.ledger.calls) == ({**TREE, "out.txt": b""}, 1)


_HARNESS = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from harness.boxes import open_sandbox
from harness.config import ModelConfig, load
from tests.harness.agents.kit import MODEL, play
from tests.harness.agents.outside_kit import Driven
from tests.model.script import Shell, Steps
from harness.agents.mini_swe_outside import MiniSweOutsideAgent
agent = MiniSweOutsideAgent(ModelConfig(name=MODEL))
with open_sandbox(load(None), "killed") as box:
    play(agent, Driven(box, agent), Steps((Shell("sleep 26"),)), Path({folder!r}))
"""


def test_a_harness_that_is_killed_takes_it_along(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    program = _HARNESS.format(root=root, folder=str(tmp_path))
    harness = subprocess.Popen([sys.executable, "-c", program], cwd=root)
    begun = until(lambda: running("sleep", "26"))
    found = programs(harness.pid)
    folders = [Path(next(w for w in processes()[pid][1] if w.endswith("/start.py"))).parent for pid in found]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700]
    harness.kill()
    harness.wait()
    assert (len(begun), len(found)) == (1, 1)
    assert until(lambda: [] if found[0] in processes() else [0])
    assert until(lambda: [] if running("sleep", "26") else [0])
    assert until(lambda: [] if folders[0].exists() else [0])
