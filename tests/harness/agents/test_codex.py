"""Codex CLI, the real program: a session, what it is told and what it tries, its notes, its tool, and trouble."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox, Spec
from harness.agents.agent import Task
from harness.agents.codex import CodexAgent, program
from harness.config import ModelConfig
from harness.outcome import UsageFault

from ...model.script import Shell, Steps, input_tokens
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

#: Each runs something, looks at a picture, or is about the session itself; none reaches out.
TOOLS = {"exec_command", "write_stdin", "view_image", "request_user_input", "get_goal", "create_goal", "update_goal"}


@pytest.fixture
def agent() -> CodexAgent:
    return CodexAgent(ModelConfig(name=MODEL))


def events(played: Played, kind: str) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in played.result.stdout.splitlines()]
    return [row for row in rows if row["type"] == kind]


@pytest.mark.parametrize("wrong", [{}, {"name": "two words"}, {"name": MODEL, "dialect": "chat"}])
def test_a_model_that_it_cannot_call(wrong: dict[str, str]) -> None:
    with pytest.raises(UsageFault, match=r"^model\.(name|dialect): "):
        CodexAgent(ModelConfig(**wrong))


def test_the_program_of_the_machine() -> None:
    place = "/opt/agent/node_modules/@openai/codex"
    assert program("x86_64") == f"{place}-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
    assert program("aarch64") == f"{place}-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex"
    with pytest.raises(UsageFault, match="no codex for 'riscv64'"):
        program("riscv64")


def test_its_card_says_what_it_is(agent: CodexAgent) -> None:
    for word in ("@openai/codex@0.171.0", MODEL, "responses", "--disable memories", 'web_search="disabled"'):
        assert word in agent.card


@pytest.mark.long
def test_a_session(agent: CodexAgent, any_box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, any_box, WRITE, tmp_path, observe=True)
    assert played.result.exit == 0, played.told()
    assert played.tree() == DONE
    first, second = (entry.seen for entry in played.log.asked())
    assert first is not None
    assert second is not None
    assert first.messages[-1].text == PROMPT
    assert {name for name in first.tools if not name.startswith("multi_agent_v1")} == TOOLS
    assert (played.attempts, played.ledger.refused) == ((), ())
    tokens = played.ledger.tokens
    assert tokens is not None
    assert (played.ledger.calls, tokens.input) == (2, sum(input_tokens(s.system, s.messages) for s in (first, second)))
    (end,) = events(played, "turn.completed")  # its own account is the same
    assert end["usage"] == {
        "input_tokens": tokens.input,
        "cached_input_tokens": tokens.cached,
        "cache_write_input_tokens": 0,
        "output_tokens": tokens.output,
        "reasoning_output_tokens": 0,
    }


@pytest.mark.long
def test_a_long_prompt_comes_whole(agent: CodexAgent, box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, box, WRITE, tmp_path, prompt=LONG)
    assert played.result.exit == 0, played.told()
    seen = played.log.asked()[0].seen
    assert seen is not None
    assert seen.messages[-1].text == LONG


@pytest.mark.long
def test_its_notes_are_read_and_come_out(agent: CodexAgent, any_box: Sandbox, tmp_path: Path) -> None:
    script = Steps((Shell("echo 'Parcels are weighed twice.' >> /memory/AGENTS.md"),))
    played = play(agent, any_box, script, tmp_path, memory={"AGENTS.md": b"Parcels are blue-3791.\n"})
    assert played.result.exit == 0, played.told()
    assert len(played.log.holding("Parcels are blue-3791.")) == played.ledger.calls == 2
    assert played.memory() == {"AGENTS.md": b"Parcels are blue-3791.\nParcels are weighed twice.\n"}
    assert played.tree() == dict(TREE)


@pytest.mark.long
def test_its_first_notes(agent: CodexAgent, box: Sandbox, tmp_path: Path) -> None:
    played = play(agent, box, Steps((Shell("echo new > /memory/AGENTS.md"),)), tmp_path, memory={})
    assert (played.result.exit, played.memory()) == (0, {"AGENTS.md": b"new\n"}), played.told()


@pytest.mark.long
def test_nothing_is_carried(agent: CodexAgent, box: Sandbox, tmp_path: Path) -> None:
    """Within a session it does read the first of them again, when that appears."""
    two_in_a_row(agent, box, tmp_path, "~/.codex/AGENTS.md ~/.codex/memories/raw_memories.md /tmp/AGENTS.md")


@pytest.mark.long
def test_it_asks_the_memory(agent: CodexAgent, any_box: Sandbox, tmp_path: Path) -> None:
    ask_memory(agent, any_box, tmp_path)


@pytest.mark.long
def test_nothing_of_the_host(
    agent: CodexAgent, planted: Mapping[str, str], planted_box: Sandbox, tmp_path: Path
) -> None:
    look_for_the_host(agent, planted_box, tmp_path, planted)


@pytest.mark.long
def test_what_it_left_running_does_not_hold_it(agent: CodexAgent, box: Sandbox, tmp_path: Path) -> None:
    leave_running(agent, box, tmp_path)


@pytest.mark.long
@TROUBLES
def test_trouble(agent: CodexAgent, box: Sandbox, tmp_path: Path, trouble: Trouble) -> None:
    meet(agent, box, tmp_path, trouble)


class Loud(CodexAgent):
    """Without its switches: what shows that they are needed, and that the observer sees it."""

    def spec(self, task: Task) -> Spec:
        quiet = super().spec(task)
        words = list(quiet.command)
        keep = [place for place, word in enumerate(words) if "model_provider" in word]
        settings = [word for place in keep for word in words[place - 1 : place + 1]]
        flags = ["--json", "--dangerously-bypass-approvals-and-sandbox", "--model", MODEL]
        return replace(quiet, command=(words[0], words[1], *flags, *settings, "-"))


@pytest.mark.long
def test_what_it_tries_without_switches(any_box: Sandbox, tmp_path: Path) -> None:
    played = play(Loud(ModelConfig(name=MODEL)), any_box, WRITE, tmp_path, observe=True)
    assert played.result.exit == 0, played.told()
    assert {"api.github.com", "chatgpt.com"} <= {a.where for a in played.attempts if a.kind == "name"}
    assert not any(attempt.answered for attempt in played.attempts)
