"""aider, the real program: sessions that edit files, what it sends, and what it tries on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.agents import aider
from harness.agents.aider import AiderAgent
from harness.config import ModelConfig
from harness.outcome import UsageFault
from memory_probe.render import HEADING

from ...model.faults import Cut, Fault, at
from ...model.script import Edit, Replace, Steps, Write
from .canaries import CANARY, plant
from .kit import MODEL, TREE, play

TASK = "Let `src/parcels.py` charge 3 a gram, and write down in docs/NOTES.md that it does. See tests/test_price.py."
PROMPT = f"{TASK}\n\n{HEADING}\n\nToday is 2026-02-03. There may be none.\n\n[1] date 2026-02-01\n    Grüße an alle.\n"
EDIT = Edit((Replace("src/parcels.py", "grams * 2", "grams * 3"), Write("docs/NOTES.md", "It charges 3.\n")))
START = {**TREE, "tests/test_price.py": b"def test_price():\n    pass\n"}
CHANGED = {**START, "src/parcels.py": b"def price(grams):\n    return grams * 3\n", "docs/NOTES.md": b"It charges 3.\n"}


def agent() -> AiderAgent:
    return AiderAgent(ModelConfig(name=MODEL))


@pytest.mark.long
def test_a_session(any_box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, monkeypatch)
    played = play(agent(), any_box, Steps((EDIT,)), tmp_path, prompt=PROMPT, tree=START)
    assert played.result.exit == 0, played.told()
    assert played.tree() == CHANGED
    assert played.result.stdout.startswith(b"files: --file src/parcels.py --read tests/test_price.py\n")
    assert b"Applied edit to src/parcels.py" in played.result.stdout
    (asked,) = played.log.entries()
    body = json.loads(asked.body)
    assert {key: body[key] for key in body if key != "messages"} == {
        "model": MODEL,
        "max_tokens": 8192,
        "seed": 7,
        "temperature": 0,
    }
    assert PROMPT.strip("\n") in body["messages"][-1]["content"]
    assert len(played.log.asides()) == 0
    assert (played.ledger.calls, played.ledger.refused, played.ledger.hit) == (1, (), ())
    tokens = played.ledger.tokens
    assert tokens is not None
    assert tokens.input == sum(len(message["content"].split()) for message in body["messages"])
    assert played.log.holding(CANARY) == ()


@pytest.mark.long
def test_it_reaches_for_nothing_else(any_box: Sandbox, tmp_path: Path) -> None:
    played = play(agent(), any_box, Steps((EDIT,)), tmp_path, prompt=PROMPT, tree=START, observe=True)
    assert played.tree() == CHANGED, played.told()
    assert played.attempts == ()


@pytest.mark.long
def test_an_answer_that_breaks_off_is_asked_for_again(box: Sandbox, tmp_path: Path) -> None:
    faults = [Fault(Cut(300), at(1))]
    played = play(agent(), box, Steps((EDIT,)), tmp_path, prompt=PROMPT, tree=START, faults=faults)
    assert (played.result.exit, played.tree()) == (0, CHANGED), played.told()
    assert (played.ledger.calls, played.ledger.cut) == (2, 1)


@pytest.mark.long
@pytest.mark.docker
def test_without_its_switches_it_would(docker_box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aider, "_OFF", ())
    played = play(agent(), docker_box, Steps(()), tmp_path, prompt="See http://example.com/a", observe=True)
    assert played.result.exit == 0, played.told()
    tried = {attempt.where for attempt in played.attempts}
    assert "example.com" in tried
    assert len(tried) > 1  # and the index that has its newer versions


def test_a_dialect_that_it_does_not_speak() -> None:
    with pytest.raises(UsageFault, match=r"^model\.dialect: the aider agent does not speak 'gemini'"):
        AiderAgent(ModelConfig(name=MODEL, dialect="gemini"))
