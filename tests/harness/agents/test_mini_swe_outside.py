"""mini-swe-agent on the host, the real program: its commands run in the sandbox, it ends with it, and nothing of the
host is told to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Result, Sandbox, Spec
from harness.agents.agent import Outside
from harness.agents.mini_swe import MiniSweAgent
from harness.agents.mini_swe_outside import MiniSweOutsideAgent
from harness.config import ModelConfig, load
from harness.ledger import Ledger
from harness.plan import select
from harness.records import ArmRecord
from harness.run import execute, prepare
from harness.rundir import RunDir

from ...model.faults import Fault, Loop, always
from ...model.script import Shell, Steps, input_tokens
from ...model.server import ModelServer
from ...model.work import TrapWork
from .cases import DONE, LONG, WRITE, told_back
from .kit import MODEL, TREE, Played, play
from .outside_kit import Driven, answered

pytestmark = pytest.mark.long


@pytest.fixture
def agent() -> MiniSweOutsideAgent:
    return MiniSweOutsideAgent(ModelConfig(name=MODEL))


def ended_well(played: Played) -> None:
    assert (played.result.exit, played.result.signal, played.result.timed_out) == (0, None, False), played.told()
    assert played.tree() == DONE
    tokens = played.ledger.tokens
    seen = [entry.seen for entry in played.log.asked() if entry.seen is not None]
    assert tokens is not None
    assert (played.ledger.calls, tokens.input) == (2, sum(input_tokens(s.system, s.messages) for s in seen))
    assert played.ledger.refused == ()
    assert b"Saved trajectory" in played.result.stdout
    assert refused(played) <= {"subprocess.Popen ('uname', ['uname', '-p'], None, None)"}  # which it can do without


def refused(played: Played) -> set[str]:
    """What its process was not let do."""
    lines = played.result.stderr.decode().splitlines()
    return {line.removeprefix("refused: ") for line in lines if line.startswith("refused: ")}


@pytest.mark.parametrize("dialect", ["chat", "responses", "anthropic"])
def test_a_session(dialect: str, box: Sandbox, tmp_path: Path) -> None:
    agent = MiniSweOutsideAgent(ModelConfig.model_validate({"name": MODEL, "dialect": dialect}))
    played = play(agent, Driven(box, agent), WRITE, tmp_path)
    ended_well(played)
    assert [seen.dialect for entry in played.log.asked() if (seen := entry.seen)] == [dialect] * 2


@pytest.mark.docker
def test_a_session_in_docker(agent: MiniSweOutsideAgent, docker_box: Sandbox, tmp_path: Path) -> None:
    ended_well(play(agent, Driven(docker_box, agent), WRITE, tmp_path))


def test_the_model_is_told_what_it_is_told_inside(agent: MiniSweOutsideAgent, box: Sandbox, tmp_path: Path) -> None:
    """Byte for byte: prompt, system, output of commands, their failures."""
    looks = ("pwd; id -u; ls -a; env | sort | grep -v ^LITELLM", "printf 'a\\r\\n\\377'; exit 7", "kill -9 $$", "no\0")
    script = Steps(tuple(Shell(look) for look in looks))
    within, told = MiniSweAgent(ModelConfig(name=MODEL)), []
    for name, which, place in (("out", agent, Driven(box, agent)), ("in", within, box)):
        (tmp_path / name).mkdir()
        played = play(which, place, script, tmp_path / name, prompt=LONG)
        assert played.result.exit == 0, played.told()
        told.append([entry.seen.messages for entry in played.log.asked() if entry.seen is not None])
    outer, inner = told
    assert LONG in outer[0][-1].text
    for messages, others in zip(outer, inner, strict=True):
        assert [_plain(message.text) for message in messages] == [_plain(message.text) for message in others]


def _plain(text: str) -> str:
    """Without the variables that the program inside has for itself."""
    return "\\n".join(
        line for line in text.split("\\n") if not line.startswith(("MSWEA_", "OPENAI_API_KEY=", "COLUMNS="))
    )


def test_nothing_of_the_host(
    agent: MiniSweOutsideAgent, planted: Mapping[str, str], planted_box: Sandbox, tmp_path: Path
) -> None:
    look = "env; cat ~/.*/* ~/.*/*/* ../*.md /*.md; find / -name '*.md' -o -name '*.toml'; cat /proc/*/environ; ls /opt"
    played = play(agent, Driven(planted_box, agent), Steps((Shell(look),)), tmp_path)
    assert played.result.exit == 0, played.told()
    assert "HOME=/home/dev" in told_back(played)
    assert [place for place, canary in planted.items() if played.log.holding(canary)] == []
    for trace in (str(tmp_path), "/layer-", "/tmp/agent-"):
        assert played.log.holding(trace) == (), trace


def test_the_sandbox_has_no_way_to_the_model_and_no_program(
    agent: MiniSweOutsideAgent, box: Sandbox, tmp_path: Path
) -> None:
    call = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 4141))'; ls /opt/agent"
    told = told_back(play(agent, Driven(box, agent), Steps((Shell(call),)), tmp_path))
    assert "ConnectionRefusedError" in told
    assert "No such file" in told


class Above(Driven):
    """The layer stands below a folder with a file of settings, as a cache stands below a home."""

    def __init__(self, box: Sandbox, agent: Outside, folder: Path) -> None:
        super().__init__(box, agent)
        self._folder = folder

    def run(self, spec: Spec) -> Result:
        assert spec.layer is not None
        (self._folder / ".env").write_text("HTTP_PROXY=http://127.0.0.1:9\nOPENAI_ORG_ID=canary51\n", encoding="utf-8")
        (self._folder / "layer").symlink_to(spec.layer.directory)
        return super().run(replace(spec, layer=replace(spec.layer, directory=self._folder / "layer")))


def test_settings_above_the_layer_are_not_read(agent: MiniSweOutsideAgent, box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, Above(box, agent, tmp_path), WRITE, tmp_path)
    ended_well(played)
    assert played.log.holding("canary51") == ()


def test_much_output_is_cut_in_the_middle(agent: MiniSweOutsideAgent, box: Sandbox, tmp_path: Path) -> None:
    flood = "printf first; head -c 50000000 /dev/zero | tr '\\0' '\\001'; printf last"
    played = play(agent, Driven(box, agent), Steps((Shell(flood), *WRITE.turns)), tmp_path)
    assert (played.result.exit, played.tree()) == (0, DONE), played.told()
    answer = answered(played, 1)
    assert "first" in answer
    assert "last" in answer
    assert "Output too long" in answer


def test_an_endless_loop_meets_its_own_limit(box: Sandbox, tmp_path: Path) -> None:
    agent = MiniSweOutsideAgent(ModelConfig(name=MODEL, calls=3))
    played = play(agent, Driven(box, agent), WRITE, tmp_path, faults=(Fault(Loop("true"), always),))
    assert (played.result.exit, played.ledger.calls, played.ledger.hit) == (0, 3, ()), played.told()
    assert b"LimitsExceeded" in played.result.stdout
    assert played.tree() == dict(TREE)


def test_a_run(box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    """Three sessions of a trap, the last with what the memory kept: recorded as those of every agent."""
    words = ["agent.name=mini-swe-outside", "conditions=B5", "seeds=1", "jobs=1", f"model.name={MODEL}"]
    room = ["limits.memory_mib=2048", "limits.wall=120"]
    with ModelServer(TrapWork(select(load(None, words, dict(mini)), load(None).cache_dir))) as server:
        config = load(None, [*words, *room, f"model.base_url={server.url}/v1"], dict(mini))
        records: list[ArmRecord] = []
        execute(prepare(config, tmp_path / "run"), records.append, sandbox=box)
    assert {record.condition: record.endings[0].outcome.value for record in records} == {"B5": "pass"}
    folder = RunDir.open(tmp_path / "run")
    with Ledger(folder.ledger, read_only=True) as ledger:
        sessions = [session for found in ledger.all_sessions().values() for session in found]
    assert [session.number for session in sessions] == [1, 2, 3]
    for session in sessions:
        assert session.model is not None
        assert (session.exit, session.timed_out, session.model.trouble) == (0, False, "")
        assert session.model.calls >= 2
        assert session.model.total("input", "output")
        assert {"command", "layer /opt/agent", "mount /work", "prompt"} <= {row.name for row in session.carried}
        assert b"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in folder.get_blob(session.transcript)
