"""What the tests of an agent on the host share: its sessions in a sandbox, and the processes of this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from containers.layer import Layer
from containers.layer_build import own_version
from containers.sandbox import Result, Sandbox, Spec
from harness.agents.agent import Outside
from harness.gates.around import Around

from .kit import Played


class Driven(Around):
    """A sandbox in which the sessions of an agent of the host are run, as `run_session` runs them."""

    def __init__(self, box: Sandbox, agent: Outside, layer: Layer | None = None) -> None:
        super().__init__(box)
        self._agent, self._layer = agent, layer

    @property
    def python(self) -> str:
        return own_version()

    def run(self, spec: Spec) -> Result:
        return self._agent.drive(self._box, replace(spec, layer=self._layer or spec.layer))


def processes() -> dict[int, tuple[int, list[str]]]:
    """Every process of this machine that lives: parent and words."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", name, "cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            found[int(name)] = (int(fields[1]), words)
    return found


def running(*words: str) -> list[int]:
    """Processes with just these words, in a sandbox or not."""
    return [pid for pid, (_, found) in processes().items() if found == list(words)]


def programs(parent: int | None = None) -> list[int]:
    """Of the agent, on the host, started by this process or by `parent`."""
    of = parent or os.getpid()
    return [
        pid
        for pid, (above, words) in processes().items()
        if above == of and any(word.endswith("/start.py") for word in words)
    ]


def until(look: Callable[[], list[int]]) -> list[int]:
    """What is found, as soon as something is, within a minute."""
    for _ in range(300):
        if found := look():
            return found
        time.sleep(0.2)
    return []


def answered(played: Played, number: int) -> str:
    """What came back of a command."""
    seen = played.log.asked()[number].seen
    assert seen is not None
    return [message.text for message in seen.messages if message.role == "tool"][-1]
