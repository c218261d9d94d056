"""Sessions of the agent of one call: what is written, what is counted, and how each fault ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from containers.sandbox import Sandbox
from harness.agents.edit import EditAgent
from harness.config import ModelConfig
from harness.outcome import UsageFault
from memory_probe.render import HEADING

from ...model.faults import BadJson, Cut, Empty, Fault, Huge, Status, WrongType, always, at
from ...model.script import Edit, Replace, Say, Steps, Turn, Write
from .edit_format import EditListing
from .kit import MODEL, TREE, Played, play

TASK = "Let `src/parcels.py` charge 3 a gram, and write down in src/NOTES.md that it does."
NOTES = f"{HEADING}\n\nToday is 2026-02-03. There may be none.\n\n[1] date 2026-02-01\n    Ärger: README.md is stale.\n"
PROMPT = f"{TASK}\n\n{NOTES}"
EDIT = Edit((Replace("src/parcels.py", "grams * 2", "grams * 3"), Write("src/NOTES.md", "It charges 3.\n")))
CHANGED = {**TREE, "src/parcels.py": b"def price(grams):\n    return grams * 3\n", "src/NOTES.md": b"It charges 3.\n"}


def session(box: Sandbox, folder: Path, turn: Turn, faults: Sequence[Fault] = ()) -> Played:
    agent = EditAgent(ModelConfig(name=MODEL))
    return play(agent, box, Steps((turn,)), folder, prompt=PROMPT, faults=faults, formats=(EditListing(),))


def events(played: Played) -> list[dict[str, Any]]:
    return [json.loads(line) for line in played.result.stdout.splitlines()]


def test_a_session(box: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text("canary-5c1e")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OPENAI_API_KEY", "canary-5c1e")
    played = session(box, tmp_path, EDIT)
    assert played.result.exit == 0, played.told()
    assert played.result.stderr == b""
    assert played.tree() == CHANGED
    files, answer, done = events(played)
    assert files == {"event": "files", "shown": ["src/parcels.py"], "left_out": [], "new": ["src/NOTES.md"]}
    assert (answer["event"], answer["end"]) == ("answer", "stop")
    assert done == {"event": "done", "changed": ["src/parcels.py"], "added": ["src/NOTES.md"], "same": [], "kept": []}
    (asked,) = played.log.entries()
    assert asked.seen is not None
    body = json.loads(asked.body)
    assert {key: body[key] for key in body if key != "messages"} == {
        "model": MODEL,
        "temperature": 0,
        "seed": 7,
        "max_tokens": 8192,
    }
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert PROMPT.strip("\n") in body["messages"][1]["content"]
    assert (played.ledger.calls, played.ledger.refusals, played.ledger.cut) == (1, 0, 0)
    tokens = played.ledger.tokens
    assert tokens is not None
    assert (tokens.input, tokens.output) == (
        sum(len(message["content"].split()) for message in body["messages"]),
        len(answer["text"].split()),
    )
    assert answer["usage"]["prompt_tokens"] == tokens.input
    assert played.log.holding("canary-5c1e") == ()


def test_a_file_that_stays_as_it_is_is_no_change(box: Sandbox, tmp_path: Path) -> None:
    played = session(box, tmp_path, Edit((Write("src/parcels.py", TREE["src/parcels.py"].decode()),)))
    assert (played.result.exit, played.tree()) == (0, dict(TREE))
    assert events(played)[-1] == {"event": "done", "changed": [], "added": [], "same": ["src/parcels.py"], "kept": []}


BLOCK = "{}\n```\nx = 1\n```\n"
ANSWERS = [
    ("I cannot do that.", "the answer holds no file"),
    (BLOCK.format("new.py") + BLOCK.format("../x.py"), "the answer names a file outside of the tree: ../x.py"),
    (BLOCK.format("new.py") + BLOCK.format("README.md"), "the answer replaces a file that was not shown: README.md"),
    (BLOCK.format("a/" * 2100 + "x.py"), "a file cannot be written: File name too long"),
]


@pytest.mark.parametrize(("answer", "reason"), ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_that_cannot_be_taken_changes_nothing(box: Sandbox, tmp_path: Path, answer: str, reason: str) -> None:
    played = session(box, tmp_path, Say(answer))
    assert (played.result.exit, played.result.stderr.decode()) == (1, f"{reason}\n"), played.told()
    assert played.tree() == dict(TREE)
    assert events(played)[-1] == {"event": "failed", "reason": reason}
    assert played.ledger.calls == 1


def test_an_endpoint_in_trouble_is_asked_again_by_the_relay(box: Sandbox, tmp_path: Path) -> None:
    faults = [Fault(Status(429, retry_after=0), at(1)), Fault(Status(503), at(2))]
    played = session(box, tmp_path, EDIT, faults)
    assert (played.result.exit, played.tree()) == (0, CHANGED), played.told()
    assert (played.ledger.calls, played.ledger.repeats, played.ledger.down) == (1, 2, "")


FAULTS = [
    (Cut(300), "the answer broke off"),
    (Empty(), "the answer is no chat completion (status 200)"),
    (BadJson(), "the answer is no chat completion (status 200)"),
    (WrongType(), "the answer is no chat completion (status 200)"),
    (Status(400), "the endpoint answers 400: "),
    (Huge(), "the answer has more than 4194304 bytes"),
]


@pytest.mark.parametrize(("kind", "reason"), FAULTS, ids=[type(kind).__name__ for kind, _ in FAULTS])
def test_a_fault_ends_the_session(box: Sandbox, tmp_path: Path, kind: Any, reason: str) -> None:
    played = session(box, tmp_path, EDIT, [Fault(kind, always)])
    assert played.result.exit == 1, played.told()
    assert played.result.stderr.decode().startswith(reason)
    assert len(played.result.stderr.splitlines()) == 1
    assert len(played.result.stdout) < 1000
    assert played.tree() == dict(TREE)
    assert (played.ledger.calls, played.ledger.cut) == (1, int(isinstance(kind, Cut)))
    assert (played.ledger.tokens is not None) == isinstance(kind, Status | Huge)


def test_an_endpoint_that_stays_down_is_told_apart(box: Sandbox, tmp_path: Path) -> None:
    played = session(box, tmp_path, EDIT, [Fault(Status(500), always)])
    assert (played.result.exit, played.ledger.repeats) == (1, 2)
    assert played.ledger.down == "HTTP 500 after 3 attempts"


BAD = [
    (ModelConfig(), "model.name: the edit agent needs a model"),
    (ModelConfig(name="two words"), "model.name: 'two words' is no name of a model"),
    (ModelConfig(name="m", dialect="gemini"), "model.dialect: the edit agent does not speak 'gemini'"),
]


@pytest.mark.parametrize(("model", "message"), BAD)
def test_a_model_that_it_cannot_work_with(model: ModelConfig, message: str) -> None:
    with pytest.raises(UsageFault) as caught:
        EditAgent(model)
    assert str(caught.value).startswith(message)


def test_the_card_names_the_model_and_the_program() -> None:
    one, other = (EditAgent(ModelConfig(name=name)).card for name in ("one", "other"))
    assert one.startswith("edit 1 (program ")
    assert "; model one, chat, one call, temperature 0, " in one
    assert one != other
