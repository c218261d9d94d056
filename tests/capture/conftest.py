"""One session at a time: a scripted agent in a tree, and the tree that came out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from containers.sandbox import Limits, Sandbox
from harness.agents.agent import Task
from harness.agents.command import CommandAgent
from harness.objects import ObjectStore
from harness.session import Finished, run_session
from harness.snapshot import Snapshot


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    return ObjectStore(tmp_path_factory.mktemp("store") / "objects.git")


_LIMITS = Limits(wall=60)


@dataclass(frozen=True)
class Session:
    """Runs a shell script as the agent's command in the tree `start`."""

    box: Sandbox
    store: ObjectStore
    folder: Path

    def run(self, start: Snapshot, script: str, limits: Limits = _LIMITS) -> Finished:
        (self.folder / "agent.sh").write_text(script, encoding="utf-8")
        agent = CommandAgent(("bash", "-eu", "/agent/agent.sh"), self.folder)
        task = Task(3, "Do it.\n", self.store.session_tar(start), "careful", limits)
        return run_session(self.box, self.store, agent, task, "")


@pytest.fixture
def session(box: Sandbox, store: ObjectStore, tmp_path: Path) -> Session:
    return Session(box, store, tmp_path)
