"""Which of the offered tools runs a command, and with which arguments; a tool by its name; JSON of a schema.

Invariant: the choice follows from what the request offers alone, so one script drives agents whose tools differ in
name and shape.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .dialects import Json, Tool, ToolCall

SHELLS = (
    "bash",
    "shell",
    "exec_command",
    "local_shell",
    "shell_command",
    "run_shell_command",
    "execute_bash",
    "run_command",
    "terminal",
    "exec",
)
_KEYS = ("command", "cmd", "script", "commands")
_NOTE = "Run a command"


def shell_call(tools: Sequence[Tool], command: str) -> ToolCall | None:
    """A call that runs `command` in a shell; None where no tool does that."""
    named = {tool.name.lower(): tool for tool in reversed(tools) if not tool.namespace}
    tool = next((named[name] for name in SHELLS if name in named), None)
    return ToolCall(tool, _command(tool, command)) if tool else None


def call_named(tools: Sequence[Tool], name: str, arguments: Json) -> ToolCall | None:
    """A call of the tool of that name, else of the only one whose name ends in it after a separator."""
    text = json.dumps(arguments, ensure_ascii=False)
    exact = [tool for tool in tools if name in (tool.name, tool.label)]
    ends = tuple(f"{mark}{name}" for mark in ("_", "-", ".", "/"))
    found = exact or [tool for tool in tools if tool.label.endswith(ends)]
    return ToolCall(found[0], text) if len(found) == 1 else None


def _command(tool: Tool, command: str) -> str:
    words = ["bash", "-lc", command]
    if tool.kind == "local_shell":
        return json.dumps({"command": words})
    if tool.kind == "shell":
        return json.dumps({"commands": [command]})
    if tool.kind == "custom":  # free text: a line of JavaScript that calls the tool itself
        return f"text(await tools.exec_command({{cmd: {json.dumps(command)}}}))"
    wanted: Mapping[str, Json] = tool.schema.get("properties") or {}
    key = next((key for key in _KEYS if key in wanted), _KEYS[0])
    whole = wanted.get(key, {})
    arguments: dict[str, Any] = {key: words if _kind(whole) == "array" else command}
    for name in tool.schema.get("required") or ():
        arguments.setdefault(name, instance(wanted.get(name, {})))
    return json.dumps(arguments, ensure_ascii=False)


def instance(schema: Json) -> Any:
    """A small value that a JSON schema allows (no references; constraints on numbers and texts are not looked at)."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for several in ("anyOf", "oneOf"):
        if schema.get(several):
            return instance(schema[several][0])
    kind = _kind(schema)
    if kind == "object":
        wanted = schema.get("properties") or {}
        return {name: instance(wanted.get(name, {})) for name in schema.get("required") or wanted}
    plain: dict[str, Any] = {"array": [], "integer": 1, "number": 1, "boolean": False, "null": None}
    return plain.get(kind, _NOTE)


def _kind(schema: Json) -> str:
    kind = schema.get("type", "string" if "properties" not in schema else "object")
    return str(kind[0] if isinstance(kind, list) else kind).lower()
