"""opencode, the real program: a session, its own memory, a memory over MCP, and what it tries on the way."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.agents import opencode
from harness.agents.opencode import OpencodeAgent
from harness.config import ModelConfig
from harness.outcome import UsageFault
from memory_probe.protocol import View, ViewItem

from ...model.script import Call, Shell, Steps
from .canaries import CANARY, plant
from .kit import MODEL, PROMPT, TREE, play

WORK = Steps((Shell("echo parcel > out.txt"),))
DONE = {**TREE, "out.txt": b"parcel\n"}
OFFERED = ("bash", "edit", "glob", "grep", "read", "skill", "task", "todowrite", "write")


def agent() -> OpencodeAgent:
    return OpencodeAgent(ModelConfig(name=MODEL))


@pytest.mark.long
def test_a_session(any_box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, monkeypatch)
    played = play(agent(), any_box, WORK, tmp_path)
    assert played.result.exit == 0, played.told()
    assert played.result.stderr == b""
    assert played.tree() == DONE
    events = [json.loads(line) for line in played.result.stdout.splitlines()]
    assert [event["type"] for event in events] == [
        "step_start",
        "tool_use",
        "step_finish",
        "step_start",
        "text",
        "step_finish",
    ]
    first, second = played.log.entries()
    assert first.seen is not None
    assert second.seen is not None
    assert first.seen.tools == second.seen.tools == OFFERED
    assert first.seen.last().strip("\n") == PROMPT.strip("\n")
    assert (len(played.log.asides()), played.ledger.calls, played.ledger.refused) == (0, 2, ())
    assert played.ledger.tokens is not None
    assert played.ledger.tokens.output == 6 + 1  # the call and "Done."
    assert played.log.holding(CANARY) == ()


@pytest.mark.long
def test_its_own_memory_is_a_file_of_instructions(box: Sandbox, tmp_path: Path) -> None:
    script = Steps((Shell("cat /memory/AGENTS.md > out.txt; echo later >> /memory/AGENTS.md"),))
    played = play(agent(), box, script, tmp_path, memory={"AGENTS.md": f"Remember {CANARY}.\n".encode()})
    assert played.result.exit == 0, played.told()
    first = played.log.entries()[0]
    assert first.seen is not None
    assert f"Instructions from: /memory/AGENTS.md\nRemember {CANARY}.\n" in first.seen.system
    assert played.tree() == {**TREE, "out.txt": f"Remember {CANARY}.\n".encode()}
    assert played.memory() == {"AGENTS.md": f"Remember {CANARY}.\nlater\n".encode()}


@pytest.mark.long
def test_a_memory_over_mcp(box: Sandbox, tmp_path: Path) -> None:
    view = View((ViewItem("Parcels are grey.", date=dt.date(2026, 2, 1)),))
    script = Steps((Call("memory_search", {"query": "which colour?"}), Shell("echo parcel > out.txt")))
    played = play(agent(), box, script, tmp_path, tools=True, view=view)
    assert (played.result.exit, played.tree()) == (0, DONE), played.told()
    assert [one.query for one in played.shown] == ["which colour?"]
    first, second, _ = played.log.entries()
    assert first.seen is not None
    assert second.seen is not None
    assert first.seen.tools == tuple(sorted([*OFFERED, "memory_search"]))
    assert "Parcels are grey." in second.seen.last()
    assert (played.ledger.calls, played.ledger.pulled, played.ledger.refused) == (3, 1, ())


@pytest.mark.long
def test_it_reaches_for_nothing_else(any_box: Sandbox, tmp_path: Path) -> None:
    played = play(agent(), any_box, WORK, tmp_path, observe=True)
    assert played.tree() == DONE, played.told()
    assert played.attempts == ()


@pytest.mark.long
@pytest.mark.docker
def test_without_its_switches_it_would(docker_box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencode, "_ENV", {"OPENCODE_CONFIG": "/agent/opencode/opencode.json"})
    played = play(agent(), docker_box, WORK, tmp_path, observe=True)
    assert played.result.exit == 0, played.told()
    tried = {attempt.where for attempt in played.attempts}
    assert "models.opencode.ai" in tried
    assert len(tried) > 1  # and the registry of its plugins


def test_a_dialect_that_it_does_not_speak() -> None:
    with pytest.raises(UsageFault, match=r"^model\.dialect: the opencode agent does not speak 'anthropic'"):
        OpencodeAgent(ModelConfig(name=MODEL, dialect="anthropic"))
