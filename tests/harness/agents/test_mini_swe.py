"""mini-swe-agent, the real program: a session in each dialect, what it is told and what it tries, and trouble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox, Spec
from harness.agents.agent import Task
from harness.agents.mini_swe import MiniSweAgent
from harness.config import ModelConfig
from harness.outcome import UsageFault

from ...model.script import Shell, Steps, input_tokens
from .cases import DONE, LONG, TROUBLES, WRITE, Trouble, leave_running, look_for_the_host, meet, told_back, two_in_a_row
from .kit import MODEL, PROMPT, Played, play

DIALECTS = ("chat", "responses", "anthropic")


@pytest.fixture
def agent() -> MiniSweAgent:
    return MiniSweAgent(ModelConfig(name=MODEL))


@pytest.mark.parametrize("wrong", [{}, {"name": "two words"}, {"name": MODEL, "dialect": "gemini"}])
def test_a_model_that_it_cannot_call(wrong: dict[str, str]) -> None:
    with pytest.raises(UsageFault, match=r"^model\.(name|dialect): "):
        MiniSweAgent(ModelConfig(**wrong))


def test_its_card_says_what_it_is() -> None:
    card = MiniSweAgent(ModelConfig(name=MODEL, dialect="responses", calls=17)).card
    for word in ("mini-swe-agent==2.4.6", MODEL, "responses", "mini.yaml", "agent.step_limit=17"):
        assert word in card


def ended_well(played: Played) -> None:
    assert played.result.exit == 0, played.told()
    assert played.tree() == DONE
    requests = [entry.seen for entry in played.log.asked()]
    first, second = (seen for seen in requests if seen is not None)
    assert f"Please solve this issue: {PROMPT.rstrip()}" in first.messages[-1].text
    assert first.tools == ("bash",)
    assert (played.attempts, played.ledger.refused) == ((), ())
    tokens = played.ledger.tokens
    assert tokens is not None
    assert (played.ledger.calls, tokens.input) == (2, sum(input_tokens(s.system, s.messages) for s in (first, second)))


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_session(dialect: str, box: Sandbox, tmp_path: Path) -> None:
    config = ModelConfig.model_validate({"name": MODEL, "dialect": dialect})
    played = play(MiniSweAgent(config), box, WRITE, tmp_path, observe=True)
    ended_well(played)
    assert [seen.dialect for entry in played.log.asked() if (seen := entry.seen)] == [dialect] * 2


@pytest.mark.long
@pytest.mark.docker
def test_a_session_in_docker(agent: MiniSweAgent, docker_box: Sandbox, tmp_path: Path) -> None:
    ended_well(play(agent, docker_box, WRITE, tmp_path, observe=True))


@pytest.mark.long
def test_a_long_prompt_comes_whole(agent: MiniSweAgent, box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, box, WRITE, tmp_path, prompt=LONG)
    assert played.result.exit == 0, played.told()
    seen = played.log.asked()[0].seen
    assert seen is not None
    assert LONG in seen.messages[-1].text


@pytest.mark.long
def test_what_it_starts_sees_the_sandbox_alone(agent: MiniSweAgent, box: Sandbox, tmp_path: Path) -> None:
    """Its packages are of its own process: the interpreter that a command starts has those of the toolchain."""
    look = "python3 -c 'import sys, pytest; print(sys.path)'; python3 -c 'import litellm'; python3 -V; command -v mini"
    told = told_back(play(agent, box, Steps((Shell(look),)), tmp_path))
    assert "/tools/lib" in told
    assert "No module named" in told
    assert "Python 3." in told
    assert "/opt/agent" not in told


@pytest.mark.long
def test_its_own_limit_of_steps(box: Sandbox, tmp_path: Path) -> None:
    played = play(MiniSweAgent(ModelConfig(name=MODEL, calls=1)), box, WRITE, tmp_path)
    assert (played.result.exit, played.ledger.calls, played.ledger.hit) == (0, 1, ()), played.told()
    assert "LimitsExceeded" in played.result.stdout.decode()


@pytest.mark.long
def test_nothing_is_carried(agent: MiniSweAgent, box: Sandbox, tmp_path: Path) -> None:
    two_in_a_row(agent, box, tmp_path, "~/.config/mini-swe-agent/.env ~/AGENTS.md /tmp/trajectory.json")


@pytest.mark.long
def test_nothing_of_the_host(
    agent: MiniSweAgent, planted: Mapping[str, str], planted_box: Sandbox, tmp_path: Path
) -> None:
    look_for_the_host(agent, planted_box, tmp_path, planted)


@pytest.mark.long
def test_what_it_left_running_does_not_hold_it(agent: MiniSweAgent, box: Sandbox, tmp_path: Path) -> None:
    leave_running(agent, box, tmp_path)


@pytest.mark.long
@TROUBLES
def test_trouble(agent: MiniSweAgent, box: Sandbox, tmp_path: Path, trouble: Trouble) -> None:
    meet(agent, box, tmp_path, trouble)


class Loud(MiniSweAgent):
    """Without its switches: what shows that they are needed, and that the observer sees it."""

    def spec(self, task: Task) -> Spec:
        quiet = super().spec(task)
        return replace(quiet, env={k: v for k, v in quiet.env.items() if not k.startswith("LITELLM")})


@pytest.mark.long
@pytest.mark.docker
def test_what_it_tries_without_switches(docker_box: Sandbox, tmp_path: Path) -> None:
    """It asks the C library for names, which in the embedded sandbox asks nobody."""
    played = play(Loud(ModelConfig(name=MODEL)), docker_box, WRITE, tmp_path, observe=True)
    assert (played.result.exit, played.tree()) == (0, DONE), played.told()
    assert {(attempt.kind, attempt.where) for attempt in played.attempts} == {("name", "raw.githubusercontent.com")}
    assert not any(attempt.answered for attempt in played.attempts)
