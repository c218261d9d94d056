"""The Responses dialect.

Invariant: a stream is the documented sequence of typed events with `sequence_number`, closed by `response.completed`
which alone holds the usage; there is no `[DONE]`. A request that names an earlier response is read as if it had sent
what went before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .chat import Chat
from .dialects import CREATED, Answer, Asked, BadRequest, Json, Tool, assistant, merged, need, pieces, plain, sse
from .script import Message, call_text

Earlier = Callable[[str], tuple[Message, ...] | None]
_SYSTEM = ("system", "developer")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call")
_BUILT_IN = ("local_shell", "shell")


class Responses:
    """POST …/responses. `earlier` gives the messages up to and with the answer of a response id."""

    name = "responses"

    def __init__(self, earlier: Earlier) -> None:
        self._earlier = earlier

    def parse(self, body: Json, target: str) -> Asked:
        items = body.get("input")
        items = [{"role": "user", "content": items}] if isinstance(items, str) else need(body, "input", list)
        system = [body.get("instructions") or "", *(plain(i["content"]) for i in items if i.get("role") in _SYSTEM)]
        form = (body.get("text") or {}).get("format") or {}
        return Asked(
            dialect=self.name,
            model=need(body, "model", str),
            system="\n\n".join(part for part in system if part),
            messages=merged([*self._before(body), *_messages(items)]),
            tools=tuple(_tools(body.get("tools") or ())),
            stream=bool(body.get("stream")),
            schema=form.get("schema"),
        )

    def _before(self, body: Json) -> tuple[Message, ...]:
        name = body.get("previous_response_id")
        if not name:
            return ()
        found = self._earlier(name)
        if found is None:
            raise BadRequest(f"Previous response with id '{name}' not found.")
        return found

    def whole(self, answer: Answer) -> Json:
        return _response(answer, "completed")

    def events(self, answer: Answer, asked: Asked) -> Iterator[bytes]:
        for number, event in enumerate(_events(answer)):
            yield sse({**event, "sequence_number": number}, event["type"])

    def error(self, status: int, message: str) -> Json:
        return Chat().error(status, message)


def response_id(answer: Answer) -> str:
    """The id under which an answer can be named by a later request."""
    return f"resp_{answer.id[:32]}"


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    begun = _response(answer, "in_progress")
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    item = _item(answer)
    yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, **_empty(item["type"])}}
    place = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "message":
        yield from _text_events(answer.text, {**place, "content_index": 0})
    elif item["type"] == "function_call":
        yield from _argument_events("function_call_arguments", "arguments", item["arguments"], place)
    elif item["type"] == "custom_tool_call":
        yield from _argument_events("custom_tool_call_input", "input", item["input"], place)
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": _response(answer, "completed")}


def _text_events(text: str, place: Json) -> Iterator[dict[str, Any]]:
    yield {"type": "response.content_part.added", **place, "part": _part("")}
    for piece in pieces(text):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": _part(text)}


def _argument_events(name: str, key: str, text: str, place: Json) -> Iterator[dict[str, Any]]:
    for piece in pieces(text):
        yield {"type": f"response.{name}.delta", **place, "delta": piece}
    yield {"type": f"response.{name}.done", **place, key: text}


def _part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _empty(kind: str) -> Json:
    """What an item lacks when it is added."""
    lacks: dict[str, Json] = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
        "custom_tool_call": {"input": ""},
    }
    return {**lacks.get(kind, {}), "status": "in_progress"}


def _item(answer: Answer) -> dict[str, Any]:
    call = answer.call
    if call is None:
        ours = {"id": f"msg_{answer.id[:32]}", "type": "message", "role": "assistant", "status": "completed"}
        return {**ours, "content": [_part(answer.text)]}
    item: dict[str, Any] = {"status": "completed", "call_id": f"call_{answer.id[:24]}"}
    if call.tool.kind == "local_shell":
        action = {"type": "exec", "env": {}, **call.as_object()}
        return {"id": f"lsh_{answer.id[:32]}", "type": "local_shell_call", **item, "action": action}
    if call.tool.kind == "shell":
        return {"id": f"sh_{answer.id[:32]}", "type": "shell_call", **item, "action": call.as_object()}
    item["name"] = call.tool.name
    if call.tool.namespace:
        item["namespace"] = call.tool.namespace
    if call.tool.kind == "custom":
        return {"id": f"ctc_{answer.id[:32]}", "type": "custom_tool_call", **item, "input": call.arguments}
    return {"id": f"fc_{answer.id[:32]}", "type": "function_call", **item, "arguments": call.arguments}


def _response(answer: Answer, status: str) -> dict[str, Any]:
    done = status == "completed"
    return {
        "id": response_id(answer),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": answer.model,
        "output": [_item(answer)] if done else [],
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "store": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(answer) if done else None,
    }


def _usage(answer: Answer) -> Json:
    used = answer.usage
    out = used.output + used.thoughts
    return {
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": used.cached, "cache_write_tokens": used.written},
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": used.thoughts},
        "total_tokens": used.input + out,
    }


def _tools(sent: Iterable[Json], namespace: str = "") -> Iterator[Tool]:
    for tool in sent:
        kind = tool.get("type")
        if kind == "namespace":
            yield from _tools(tool.get("tools") or (), tool["name"])
        elif kind == "function":
            yield Tool(tool["name"], schema=tool.get("parameters") or {}, namespace=namespace)
        elif kind == "custom":
            yield Tool(tool["name"], kind="custom", namespace=namespace)
        elif kind in _BUILT_IN:
            yield Tool(kind, kind=kind)


def _messages(items: Iterable[Json]) -> Iterator[Message]:
    for item in items:
        kind, role = item.get("type", "message"), item.get("role")
        if kind in _CALLS:
            name, arguments = _called(item)
            yield assistant([], [(item.get("call_id"), name, call_text(name, arguments))])
        elif kind.endswith("_output"):
            yield Message("tool", _output(item.get("output")))
        elif kind == "message" and role == "assistant":
            yield assistant([plain(item.get("content"))], [])
        elif kind == "message" and role not in _SYSTEM:
            yield Message("user", plain(item.get("content")))


def _called(item: Json) -> tuple[str, Any]:
    kind = item["type"]
    if kind == "local_shell_call":
        return "local_shell", {"command": item["action"]["command"]}
    if kind == "shell_call":
        return "shell", {"commands": item["action"]["commands"]}
    tool = Tool(item["name"], namespace=item.get("namespace") or "")
    return tool.label, item["input" if kind == "custom_tool_call" else "arguments"]


def _output(output: Any) -> str:
    if isinstance(output, list) and output and "stdout" in output[0]:  # of the built-in shell
        return "\n".join(part["stdout"] + part.get("stderr", "") for part in output)
    return output if isinstance(output, str) else json.dumps(output) if isinstance(output, dict) else plain(output)
