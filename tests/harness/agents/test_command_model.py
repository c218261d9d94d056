"""The `command` agent with a model: any program, told where the model answers, in each dialect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from containers.relay import Dialect
from containers.sandbox import Limits, Sandbox
from harness.agents.agent import Task
from harness.agents.command import CommandAgent
from harness.config import ModelConfig
from harness.outcome import UsageFault

from ...model.script import Say, Steps
from .kit import KEY, MODEL, TREE, play

PROGRAM = """\
import json, os, sys, urllib.request
prompt, model, url, target, body = sys.argv[1:]
text = open(prompt).read()
request = urllib.request.Request(url + target, body.replace("PROMPT", text.strip()).encode())
request.add_header("Content-Type", "application/json")
request.add_header("anthropic-version", "2023-06-01")
with urllib.request.urlopen(request) as answer:
    said = json.load(answer)
open("said.txt", "w").write("the word is parcel\\n" if "The word." in json.dumps(said) else "")
names = sorted(name for name in os.environ if "KEY" in name or "URL" in name or "API" in name)
print(json.dumps({"model": model, "environment": {name: os.environ[name] for name in names}}))
"""
SAID = {"messages": [{"role": "user", "content": "PROMPT"}]}
BODIES = {
    "chat": ("/chat/completions", {"model": MODEL, **SAID}),
    "responses": ("/responses", {"model": MODEL, "input": "PROMPT"}),
    "anthropic": ("/v1/messages", {"model": MODEL, "max_tokens": 9, **SAID}),
    "gemini": (
        f"/v1beta/models/{MODEL}:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "PROMPT"}]}]},
    ),
}
HOST = "http://127.0.0.1:4141"
OPENAI = {"OPENAI_API_BASE": f"{HOST}/v1", "OPENAI_API_KEY": "unused", "OPENAI_BASE_URL": f"{HOST}/v1"}
ENVIRONMENTS = {
    "chat": OPENAI,
    "responses": OPENAI,
    "anthropic": {"ANTHROPIC_API_KEY": "unused", "ANTHROPIC_BASE_URL": HOST},
    "gemini": {"GEMINI_API_KEY": "unused", "GOOGLE_GEMINI_BASE_URL": HOST},
}


@pytest.mark.parametrize("dialect", list(BODIES))
def test_a_program_calls_the_model(box: Sandbox, tmp_path: Path, dialect: str) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "call.py").write_text(PROGRAM)
    target, body = BODIES[dialect]
    words = ("python3", "/agent/call.py", "{prompt}", "{model}", "{url}", target, json.dumps(body))
    agent = CommandAgent(words, folder, ModelConfig.model_validate({"name": MODEL, "dialect": dialect}))
    assert agent.needs.dialect == Dialect(dialect)
    assert agent.card.endswith(f"; model {MODEL}, {dialect}")
    played = play(agent, box, Steps((Say("The word."),)), tmp_path, prompt="Which word?\n")
    assert played.result.exit == 0, played.told()
    assert played.tree() == {**TREE, "said.txt": b"the word is parcel\n"}
    assert json.loads(played.result.stdout) == {"model": MODEL, "environment": ENVIRONMENTS[dialect]}
    (asked,) = played.log.asked()
    assert asked.seen is not None
    assert asked.seen.last() == "Which word?"
    assert [(entry.model, entry.calls) for entry in played.ledger.usage] == [(MODEL, 1)]
    tokens = played.ledger.tokens
    assert tokens is not None
    assert (tokens.input, tokens.output) == (2, 2)
    assert KEY.encode() not in played.result.stdout


def test_chat_is_the_first_dialect() -> None:
    assert CommandAgent(("true",), None, ModelConfig(name="m")).needs.dialect is Dialect.CHAT


def test_without_a_model_nothing_is_added() -> None:
    agent = CommandAgent(("echo", "{prompt}", "{other}"), None)
    spec = agent.spec(Task(1, "x", b"", "careful", Limits()))
    assert (agent.needs.dialect, spec.command, spec.env) == (None, ("echo", "/task/prompt.md", "{other}"), {})


def test_words_are_filled_once() -> None:
    agent = CommandAgent(("{model}={prompt};{url}",), None, ModelConfig(name="{url}"))
    assert agent.spec(Task(1, "x", b"", "careful", Limits())).command == (f"{{url}}=/task/prompt.md;{HOST}/v1",)


@pytest.mark.parametrize("word", ["{model}", "--base={url}"])
def test_a_word_that_needs_a_model_is_refused_without_one(word: str) -> None:
    with pytest.raises(UsageFault) as caught:
        CommandAgent(("run", word), None)
    assert str(caught.value).startswith(f"agent.command: {word.removeprefix('--base=')} stands in the command")
