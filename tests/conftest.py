"""Fixtures that several rooms share: the mini trap, one sandbox for the whole session, runs of a scripted agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from containers.sandbox import WORK, Result, Sandbox, Spec
from harness.boxes import open_sandbox
from harness.config import RunConfig, load
from harness.gates.around import Around, Remembered
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.records import ArmRecord, SessionRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from harness.snapshot import Entry

from .blindness.blindness_kit import Recorder
from .blindness.blindness_runs import Real, play_real

MINI = Path(__file__).parent / "data" / "mini"
REAL = {
    "tests/analysis/test_glossary.py",
    "tests/blindness/test_real_traps.py",
    "tests/browser/test_report.py",
    "tests/fold/test_expected.py",
}


@dataclass
class Done:
    """A finished run, with the ways to look into it."""

    out: Path
    records: list[ArmRecord]

    def only(self) -> ArmRecord:
        assert len(self.records) == 1, [r.arm for r in self.records]
        return self.records[0]

    def sessions(self, arm: str) -> list[SessionRecord]:
        record = next(r for r in self.records if r.arm == arm)
        with Ledger(self.out / "ledger.sqlite", read_only=True) as ledger:
            return ledger.sessions(arm, record.attempt)

    def tree(self, tree_id: str) -> dict[bytes, Entry]:
        return ObjectStore(self.out / "objects.git").get(tree_id)

    def blob(self, name: str) -> bytes:
        return RunDir.open(self.out).get_blob(name)


@pytest.fixture(scope="session")
def mini() -> Mapping[str, str]:
    """Where the mini trap lies, as configuration keys."""
    return {"traps_dir": str(MINI / "traps"), "oracles_dir": str(MINI / "oracles")}


class _ChecksOnce(Around):
    """A sandbox that runs a public check (a tree and a command, of which nothing comes out) once for the same tree.

    A run shares its checks already; hundreds of runs of the mini trap leave the same trees after S1 and S2. Sessions
    and scorings are always run.
    """

    def __init__(self, box: Sandbox) -> None:
        super().__init__(box)
        self._once = Remembered(box)

    def run(self, spec: Spec) -> Result:
        check = spec.mounts.keys() == {WORK} and not spec.exports and spec.endpoint is None
        return (self._once if check else self._box).run(spec)


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    """One bubblewrap sandbox for all tests of the session."""
    with open_sandbox(load(None), "tests") as sandbox:
        yield _ChecksOnce(sandbox)


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory, box: Sandbox) -> Real:
    """One run of the quick fold by the reference agent, with everything that went through its sandbox.

    The files that use it are those in `REAL`, so that one worker runs it once. Most arms of a trap do the same S1 and
    leave the same trees to the public checks: every Spec is recorded, and what is the same to the byte is run once.
    """
    return play_real(tmp_path_factory.mktemp("real") / "run", Recorder(Remembered(box)))


class _ByFile(LoadFileScheduling):
    """The tests of a file go to one worker, and the files that look at the run of the real fold go together."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "the real fold" if file in REAL else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _ByFile:
    return _ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is slow comes first, so that no worker is left with it when the others are done."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


RunMini = Callable[..., Done]


@pytest.fixture
def run_mini(mini: Mapping[str, str], box: Sandbox, tmp_path: Path) -> RunMini:
    """Run the mini trap: `run_mini("conditions=B0", script="…python…", extra={"name": bytes})`.

    With `script` the agent is `command` running that Python text in every session; else the reference agent.
    """

    def run(
        *words: str, script: str | None = None, extra: Mapping[str, bytes] | None = None, name: str = "run"
    ) -> Done:
        found = list(words)
        if script is not None:
            program = tmp_path / f"{name}-agent"
            program.mkdir()
            (program / "agent.py").write_text(script, encoding="utf-8")
            for file, data in (extra or {}).items():
                (program / file).write_bytes(data)
            found += ["agent.name=command", f"agent.program={program}"]
            found += ["agent.command=" + json.dumps(["python3", "/agent/agent.py", "{prompt}"])]
        if not any(w.startswith("seeds=") for w in found):
            found.append("seeds=1")
        config: RunConfig = load(None, found, dict(mini))
        ready = prepare(config, tmp_path / name)
        records: list[ArmRecord] = []
        execute(ready, records.append, sandbox=box)
        return Done(tmp_path / name, records)

    return run
