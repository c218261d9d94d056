"""Claude Code, the real program: a session, what it is told and what it tries, its notes, its tool, and trouble."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox, Spec
from harness.agents.agent import Task
from harness.agents.claude_code import ClaudeCodeAgent, program
from harness.config import ModelConfig
from harness.outcome import UsageFault

from ...model.script import Call, Seen, Shell, Steps, input_tokens
from .cases import (
    DONE,
    LONG,
    TROUBLES,
    WRITE,
    Trouble,
    ask_memory,
    leave_running,
    look_for_the_host,
    meet,
    two_in_a_row,
)
from .kit import MODEL, PROMPT, TREE, Played, play

#: Each works on files or commands, or hands work on; none reaches out, and none outlives the session's last word.
TOOLS = {
    *("Bash", "Read", "Edit", "Write", "NotebookEdit"),
    *("Agent", "ListAgents", "SendMessage", "TaskStop", "Workflow", "ReportFindings"),
}
REMEMBERS = "persistent file-based memory"  # how its system prompt tells it of its memory


@pytest.fixture
def agent() -> ClaudeCodeAgent:
    return ClaudeCodeAgent(ModelConfig(name=MODEL))


def seen(played: Played, number: int) -> Seen:
    found = played.log.asked()[number - 1].seen
    assert found is not None
    return found


@pytest.mark.parametrize("wrong", [{}, {"name": "two words"}, {"name": MODEL, "dialect": "responses"}])
def test_a_model_that_it_cannot_call(wrong: dict[str, str]) -> None:
    with pytest.raises(UsageFault, match=r"^model\.(name|dialect): "):
        ClaudeCodeAgent(ModelConfig(**wrong))


def test_the_program_of_the_machine() -> None:
    place = "/opt/agent/node_modules/@anthropic-ai/claude-code"
    assert program("x86_64") == f"{place}-linux-x64/claude"
    assert program("aarch64") == f"{place}-linux-arm64/claude"
    with pytest.raises(UsageFault, match="no claude-code for 'riscv64'"):
        program("riscv64")


def test_its_card_says_what_it_is(agent: ClaudeCodeAgent) -> None:
    for word in ("@anthropic-ai/claude-code@2.1.332", MODEL, "anthropic", "WebSearch", "DISABLE_TELEMETRY=1"):
        assert word in agent.card


@pytest.mark.long
def test_a_session(agent: ClaudeCodeAgent, any_box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, any_box, WRITE, tmp_path, observe=True)
    assert played.result.exit == 0, played.told()
    assert played.tree() == DONE
    requests = [seen(played, number) for number in (1, 2)]
    assert [m.text for m in requests[0].messages if PROMPT in m.text] != []
    assert set(requests[0].tools) == TOOLS
    assert (played.attempts, played.ledger.refused) == ((), ())
    tokens = played.ledger.tokens
    assert tokens is not None
    assert (played.ledger.calls, tokens.input) == (2, sum(input_tokens(s.system, s.messages) for s in requests))
    rows = [json.loads(line) for line in played.result.stdout.splitlines()]
    (own,) = [row["modelUsage"][MODEL] for row in rows if row["type"] == "result"]  # its own account is the same
    told = [own[f"{name}Tokens"] for name in ("cacheReadInput", "cacheCreationInput", "output")]
    assert told == [tokens.cached, tokens.written, tokens.output]
    assert sum([own["inputTokens"], *told[:2]]) == tokens.input


@pytest.mark.long
def test_a_long_prompt_comes_whole(agent: ClaudeCodeAgent, box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, box, WRITE, tmp_path, prompt=LONG)
    assert played.result.exit == 0, played.told()
    assert LONG in "".join(message.text for message in seen(played, 1).messages)


@pytest.mark.long
def test_whom_it_hands_work_to_calls_the_same_model(agent: ClaudeCodeAgent, box: Sandbox, tmp_path: Path) -> None:
    work = {"description": "Look", "prompt": "Say hello.", "subagent_type": "Explore"}
    turns = [Call("Agent", {**work, "model": model}) for model in ("haiku", "sonnet", "opus")]
    played = play(agent, box, Steps((*turns, *WRITE.turns)), tmp_path)
    assert played.result.exit == 0, played.told()
    assert [(usage.model, usage.calls) for usage in played.ledger.usage] == [(MODEL, played.ledger.calls)]
    assert played.ledger.calls > 5
    assert played.ledger.refused == ()


@pytest.mark.long
def test_its_notes_are_read_and_come_out(agent: ClaudeCodeAgent, any_box: Sandbox, tmp_path: Path) -> None:
    index = b"- [Colours](colours.md) Parcels are blue-3791.\n"
    script = Steps((Shell("echo '- [Weight](weight.md) twice' >> /memory/MEMORY.md; echo x > /memory/weight.md"),))
    played = play(agent, any_box, script, tmp_path, memory={"MEMORY.md": index, "colours.md": b"Not read at once.\n"})
    assert played.result.exit == 0, played.told()
    assert len(played.log.holding("Parcels are blue-3791.")) == played.ledger.calls == 2
    assert REMEMBERS in seen(played, 1).system
    assert "/memory/" in seen(played, 1).system
    assert played.memory() == {
        "MEMORY.md": index + b"- [Weight](weight.md) twice\n",
        "colours.md": b"Not read at once.\n",
        "weight.md": b"x\n",
    }
    assert played.tree() == dict(TREE)


@pytest.mark.long
def test_its_first_notes(agent: ClaudeCodeAgent, box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, box, Steps((Shell("echo new > /memory/MEMORY.md"),)), tmp_path, memory={})
    assert (played.result.exit, played.memory()) == (0, {"MEMORY.md": b"new\n"}), played.told()


@pytest.mark.long
def test_nothing_is_carried(agent: ClaudeCodeAgent, box: Sandbox, tmp_path: Path) -> None:
    two_in_a_row(agent, box, tmp_path, "~/.claude/CLAUDE.md ~/.claude/projects/-work/memory/MEMORY.md /tmp/CLAUDE.md")
    played = play(agent, box, WRITE, tmp_path)
    assert REMEMBERS not in seen(played, 1).text()


@pytest.mark.long
def test_it_asks_the_memory(agent: ClaudeCodeAgent, any_box: Sandbox, tmp_path: Path) -> None:
    ask_memory(agent, any_box, tmp_path)


@pytest.mark.long
def test_nothing_of_the_host(
    agent: ClaudeCodeAgent, planted: Mapping[str, str], planted_box: Sandbox, tmp_path: Path
) -> None:
    look_for_the_host(agent, planted_box, tmp_path, planted)


@pytest.mark.long
def test_what_it_left_running_does_not_hold_it(agent: ClaudeCodeAgent, box: Sandbox, tmp_path: Path) -> None:
    leave_running(agent, box, tmp_path)


@pytest.mark.long
@TROUBLES
def test_trouble(agent: ClaudeCodeAgent, box: Sandbox, tmp_path: Path, trouble: Trouble) -> None:
    meet(agent, box, tmp_path, trouble)


class Loud(ClaudeCodeAgent):
    """Without its switches: what shows that they are needed, and that the observer sees it."""

    def spec(self, task: Task) -> Spec:
        quiet = super().spec(task)
        env = {name: quiet.env[name] for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")}
        words = [word for word in quiet.command if not word.startswith("--settings")]
        return replace(quiet, command=tuple(words), env=env)


@pytest.mark.long
@pytest.mark.docker
def test_what_it_tries_without_switches(docker_box: Sandbox, tmp_path: Path) -> None:
    """It asks the C library for names, which in the embedded sandbox asks nobody."""
    played = play(Loud(ModelConfig(name=MODEL)), docker_box, WRITE, tmp_path, observe=True)
    assert played.result.exit == 0, played.told()
    assert "api.anthropic.com" in {attempt.where for attempt in played.attempts if attempt.kind == "name"}
    assert not any(attempt.answered for attempt in played.attempts)
    assert [refused.target for refused in played.ledger.refused] == ["/api/hello"]
    assert REMEMBERS in seen(played, 1).system
