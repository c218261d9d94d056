"""The real programs run the quick fold before a scripted model, in both sandboxes: the same script, the same outcomes.

Invariant: an agent's run has the facts of the reference agent's run, so that what an agent lost, the agent lost.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.boxes import open_sandbox
from harness.config import RunConfig, load
from harness.ledger import Ledger
from harness.plan import select
from harness.records import ArmRecord, SessionRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from tests.model.server import ModelServer
from tests.model.work import TrapWork

FOLD = ("fold=quick", "conditions=B0,B5,DF-hybrid", "seeds=1")
ROOM = ("limits.wall=300", "limits.memory_mib=3072", "limits.disk_mib=512")
AGENTS = ("codex", "claude-code", "mini-swe")
#: For the target `agents`, which is run by hand: two to ten minutes each on two cores.
BY_HAND = {(agent, sandbox) for agent in AGENTS for sandbox in ("bubblewrap", "docker")}
BY_HAND -= {("codex", "bubblewrap"), ("claude-code", "docker")}

Endings = dict[str, tuple[str, str]]


def endings(records: list[ArmRecord]) -> Endings:
    """Arm -> (outcome, cause) of the careful reader, or of an agent that has no levels."""
    found = [(r.arm, e) for r in records for e in r.endings if e.reader in ("careful", "-")]
    return {arm: (ending.outcome.value, ending.cause) for arm, ending in found}


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, box: Sandbox) -> tuple[Path, Endings]:
    """The reference agent's run of the fold, and how its arms ended."""
    out = tmp_path_factory.mktemp("reference") / "run"
    records: list[ArmRecord] = []
    execute(prepare(load(None, [*FOLD, "readers=careful"]), out), records.append, sandbox=box)
    return out, endings(records)


def cases() -> list[object]:
    pairs = [(agent, sandbox) for agent in AGENTS for sandbox in ("bubblewrap", "docker")]
    marks = {pair: [pytest.mark.by_hand] if pair in BY_HAND else [pytest.mark.long] for pair in pairs}
    docker = [pytest.mark.docker]
    return [pytest.param(*p, id="-".join(p), marks=marks[p] + (docker if p[1] == "docker" else [])) for p in pairs]


@pytest.mark.timeout(2400)
@pytest.mark.parametrize(("agent", "sandbox"), cases())
def test_the_same_script_gives_the_same_outcomes(
    agent: str, sandbox: str, reference: tuple[Path, Endings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, wanted = reference
    monkeypatch.setenv("TEST_MODEL_KEY", "sk-a-key-for-tests-only")
    traps = select(load(None, FOLD), load(None).cache_dir)
    with ModelServer(TrapWork(traps), key=os.environ["TEST_MODEL_KEY"]) as server:
        config = load(None, [*FOLD, *ROOM, *model(agent, server), f"sandbox={sandbox}", f"facts_from={source}"])
        records = run(config, tmp_path / "run")
        assert server.log.errors() == ()
    assert endings(records) == wanted
    assert {outcome for outcome, _ in wanted.values()} == {"pass", "trapped", "failed"}
    assert len(records) == len(wanted) == 36
    sessions = committed(tmp_path / "run")
    assert len(sessions) == 3 * 36
    folder = RunDir.open(tmp_path / "run")
    for session in sessions:
        assert session.model is not None
        assert session.model.trouble == ""
        assert session.model.total("input", "output") is not None
        assert session.model.refused == ()
        assert folder.has_packed(session.model.exchange)
        assert folder.get_blob(session.transcript)
    kept = b"".join(p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file())
    assert os.environ["TEST_MODEL_KEY"].encode() not in kept


def model(agent: str, server: ModelServer) -> list[str]:
    base = server.url if agent == "claude-code" else f"{server.url}/v1"
    return [f"agent.name={agent}", "model.name=scripted", f"model.base_url={base}", "model.key_env=TEST_MODEL_KEY"]


def run(config: RunConfig, out: Path) -> list[ArmRecord]:
    ready = prepare(config, out)
    records: list[ArmRecord] = []
    with open_sandbox(config, ready.label) as box:
        execute(ready, records.append, sandbox=box)
    return records


def committed(out: Path) -> list[SessionRecord]:
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        return [session for found in ledger.all_sessions().values() for session in found]
