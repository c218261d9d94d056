"""One script drives agents whose tools differ in name and shape, and agents that read edits from plain text."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .client import Talk, User, ask, post, request
from .dialects import Tool
from .formats import SUBMIT, edit_command
from .reading import Model
from .script import Call, Cases, Edit, Replace, Say, Shell, Steps, Turn, Write
from .server import ModelServer
from .tools import call_named, instance, shell_call

TEXT = {"type": "string"}


def shape(required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


SHAPES = [
    ("Bash", shape(("command",), command=TEXT, description=TEXT), {"command": "ls -l"}),
    (
        "bash",
        shape(("command", "description"), command=TEXT, description=TEXT),
        {"command": "ls -l", "description": "Run a command"},
    ),
    ("shell", shape(("command",), command={"type": "array", "items": TEXT}), {"command": ["bash", "-lc", "ls -l"]}),
    ("shell_command", shape(("command",), command=TEXT, workdir=TEXT), {"command": "ls -l"}),
    ("exec_command", shape(("cmd",), cmd=TEXT, yield_time_ms={"type": "number"}), {"cmd": "ls -l"}),
    ("run_shell_command", {"type": "OBJECT", "properties": {"command": {"type": "STRING"}}}, {"command": "ls -l"}),
    (
        "run_shell_command",
        shape(("command", "is_background"), command=TEXT, is_background={"type": "boolean"}),
        {"command": "ls -l", "is_background": False},
    ),
]


@pytest.mark.parametrize(("name", "schema", "wanted"), SHAPES)
def test_arguments_have_the_shape_that_the_tool_asks_for(name: str, schema: dict[str, Any], wanted: object) -> None:
    tools = [Tool("read_file", schema=shape(path=TEXT)), Tool(name, schema=schema)]
    call = shell_call(tools, "ls -l")
    assert call is not None
    assert call.tool.name == name
    assert json.loads(call.arguments) == wanted


def test_no_tool_for_a_command() -> None:
    assert shell_call([Tool("read_file"), Tool("bash", namespace="mcp__other")], "ls") is None


NAMES = [
    ("recall", ["recall"], "recall"),
    ("recall", ["mcp__memory__recall", "Bash"], "mcp__memory__recall"),
    ("recall", ["memory_recall", "bash"], "memory_recall"),
    ("recall", ["recall", "mcp__memory__recall"], "recall"),
    ("recall", ["a_recall", "b_recall"], None),
    ("recall", ["precall"], None),
]


@pytest.mark.parametrize(("name", "offered", "found"), NAMES)
def test_a_tool_is_found_by_the_end_of_its_name(name: str, offered: list[str], found: str | None) -> None:
    call = call_named([Tool(one) for one in offered], name, {"query": "x"})
    assert (call and call.tool.name) == found


def responses(turn: Turn, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The one item that is answered to a request which offers these tools."""
    with ModelServer(Steps((turn,))) as server:
        target, body = request("responses", Talk((User("Begin."),), more={"tools": tools}))
        (item,) = json.loads(post(server.url, target, body)[2])["output"]
    return {key: value for key, value in item.items() if key not in ("id", "call_id", "status")}


def test_the_tools_that_only_the_responses_api_has() -> None:
    space = {"type": "namespace", "name": "mcp__memory", "tools": [{"type": "function", "name": "recall"}]}
    assert responses(Call("recall", {"query": "x"}), [space]) == {
        "type": "function_call",
        "name": "recall",
        "namespace": "mcp__memory",
        "arguments": '{"query": "x"}',
    }
    assert responses(Shell("ls -l"), [{"type": "local_shell"}]) == {
        "type": "local_shell_call",
        "action": {"type": "exec", "command": ["bash", "-lc", "ls -l"], "env": {}},
    }
    assert responses(Shell("ls -l"), [{"type": "shell"}]) == {"type": "shell_call", "action": {"commands": ["ls -l"]}}
    assert responses(Shell('echo "a"'), [{"type": "custom", "name": "exec"}]) == {
        "type": "custom_tool_call",
        "name": "exec",
        "input": r'text(await tools.exec_command({cmd: "echo \"a\""}))',
    }


BUILT_IN = [
    (
        {"type": "local_shell"},
        lambda item: {"type": "local_shell_call_output", "call_id": item["call_id"], "output": "a b"},
        ("local_shell",),
    ),
    (
        {"type": "shell"},
        lambda item: {
            "type": "shell_call_output",
            "call_id": item["call_id"],
            "output": [{"stdout": "a b", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
        ("shell",),
    ),
    (
        {"type": "custom", "name": "exec"},
        lambda item: {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "a b"},
        ("exec",),
    ),
]


@pytest.mark.parametrize(("tool", "result", "called"), BUILT_IN)
def test_their_results_are_read_back(tool: dict[str, Any], result: Any, called: tuple[str, ...]) -> None:
    with ModelServer(Steps((Shell("ls"),))) as server:
        target, body = request("responses", Talk((User("Begin."),), more={"tools": [tool]}))
        (item,) = json.loads(post(server.url, target, body)[2])["output"]
        body["input"] = [*body["input"], item, result(item)]
        (last,) = json.loads(post(server.url, target, body)[2])["output"]
        seen = server.log.asked()[1].seen
    assert last["type"] == "message"
    assert seen is not None
    assert (seen.turn, seen.last(), seen.messages[1].called) == (2, "a b", called)


SCHEMAS = [
    (shape(("a", "b"), a={"type": "integer"}, b={"enum": ["x", "y"]}, c=TEXT), {"a": 1, "b": "x"}),
    ({"type": "OBJECT", "properties": {"note": {"type": "STRING"}}}, {"note": "Run a command"}),
    ({"anyOf": [{"type": "null"}, TEXT]}, None),
    ({"type": ["array", "null"]}, []),
]


@pytest.mark.parametrize(("schema", "wanted"), SCHEMAS)
def test_an_instance_of_a_schema(schema: dict[str, Any], wanted: object) -> None:
    assert instance(schema) == wanted


FORMS = [
    ("chat", {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMAS[0][0]}}}),
    ("responses", {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMAS[0][0]}}}),
    ("anthropic", {"output_config": {"format": {"type": "json_schema", "schema": SCHEMAS[0][0]}}}),
    ("gemini", {"generationConfig": {"responseJsonSchema": SCHEMAS[0][0]}}),
]


@pytest.mark.parametrize(("dialect", "more"), FORMS)
def test_an_aside_has_the_form_that_it_was_asked_for(dialect: str, more: dict[str, Any]) -> None:
    with ModelServer(Steps((Shell("ls"),))) as server:
        got = ask(server.url, dialect, Talk((User("Which model is best?"),), more=more))
        plain = ask(server.url, dialect, Talk((User("A title, please."),)))
        assert len(server.log.asides()) == 2
    assert json.loads(got.model.text) == {"a": 1, "b": "x"}
    assert plain.model == Model("Understood.")


EDIT = Edit((Replace("src/a.py", "a - b", "a + b"), Write("notes/new é.txt", "one\n'two' $three\n")))


def test_an_edit_is_a_command_where_there_is_a_shell(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("x = a - b\n")
    subprocess.run(["bash", "-c", edit_command(EDIT)], cwd=tmp_path, check=True)
    assert (tmp_path / "src/a.py").read_text() == "x = a + b\n"
    assert (tmp_path / "notes/new é.txt").read_text() == "one\n'two' $three\n"
    again = subprocess.run(["bash", "-c", edit_command(EDIT)], cwd=tmp_path, capture_output=True, check=False)
    assert (again.returncode, again.stderr) == (1, b"src/a.py: the text to be replaced does not occur once\n")


def test_mini_with_a_tool_ends_by_its_command() -> None:
    talk = Talk(
        (User(f"Finish by issuing the following command: `{SUBMIT}`."),),
        tools={"bash": shape(("command",), command=TEXT)},
    )
    with ModelServer(Steps(())) as server:
        got = ask(server.url, "chat", talk)
    assert got.model.call is not None
    assert json.loads(got.model.call[2]) == {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}


def text_of(turn: Turn, prompt: str) -> str:
    """What is said to an agent without tools."""
    with ModelServer(Steps((turn,))) as server:
        return ask(server.url, "chat", Talk((User(prompt),))).model.text


MINI = "Answer with one block:\n\n```mswea_bash_command\nyour_command_here\n```"


def test_mini_without_tools_reads_a_block() -> None:
    assert text_of(Shell("ls -l"), MINI).endswith("\n\n```mswea_bash_command\nls -l\n```")
    assert text_of(EDIT, MINI).endswith(f"\n\n```mswea_bash_command\n{edit_command(EDIT)}\n```")
    assert text_of(Say("Done."), MINI) == f"THOUGHT: Done.\n\n```mswea_bash_command\n{SUBMIT}\n```"


WHOLE = """\
To suggest changes to a file you MUST return a *file listing* that contains the entire content of the file.

path/to/filename.js
{fence}
// entire file content ...

src/a.py
{fence}
def add(a, b):
    return a - b
{close}

src/empty.py
{fence}
{close}
"""
FENCES = [("```", "```"), ("````", "````"), ("<source>", "</source>")]


@pytest.mark.parametrize(("fence", "close"), FENCES)
def test_aider_reads_whole_files(fence: str, close: str) -> None:
    said = text_of(EDIT, WHOLE.format(fence=fence, close=close))
    assert said == (
        f"src/a.py\n{fence}\ndef add(a, b):\n    return a + b\n{close}\n\n"
        f"notes/new é.txt\n{fence}\none\n'two' $three\n{close}\n"
    )


def test_what_the_format_cannot_carry_is_an_aside() -> None:
    prompt = WHOLE.format(fence="```", close="```")
    assert text_of(Shell("ls"), prompt) == "Understood."
    assert text_of(Edit((Replace("src/a.py", "nowhere", "x"),)), prompt) == "Understood."
    assert text_of(Edit((Replace("src/b.py", "a", "x"),)), prompt) == "Understood."


DIFF = """\
Describe each change with a *SEARCH/REPLACE block* per the examples below.

mathweb/flask/app.py
```python
<<<<<<< SEARCH

src/a.py
```
def add(a, b):
    return a - b
```
"""


def test_aider_reads_blocks() -> None:
    assert text_of(EDIT, DIFF) == (
        "src/a.py\n```\n<<<<<<< SEARCH\ndef add(a, b):\n    return a - b\n=======\n"
        "def add(a, b):\n    return a + b\n>>>>>>> REPLACE\n```\n\n"
        "notes/new é.txt\n```\n<<<<<<< SEARCH\n=======\none\n'two' $three\n>>>>>>> REPLACE\n```\n"
    )


def test_a_script_by_what_the_prompt_holds() -> None:
    script = Cases((("alpha", Steps((), Say("A."))), ("beta", Steps((), Say("B.")))))
    with ModelServer(script) as server:
        found = [ask(server.url, "chat", Talk((User(text),))).model.text for text in ("the beta", "the alpha", "none")]
    assert found == ["B.", "A.", "Done."]


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30))
def test_a_command_is_never_changed(command: str) -> None:
    call = shell_call([Tool("exec_command", schema=shape(("cmd",), cmd=TEXT))], command)
    assert call is not None
    assert json.loads(call.arguments) == {"cmd": command}
