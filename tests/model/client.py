"""A small client for tests: the same talk in any dialect, streamed or not, put together to the same form.

Invariant: it reads a stream by the rules of the real clients (a stream without its closing event is an error) and
counts tokens by the one convention of this project: `input` holds the cached and the written ones, `output` the
thoughts.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from .reading import JOIN, READ, Counts, Json, Model

DIALECTS = ("chat", "responses", "anthropic", "gemini")
BASH = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


@dataclass(frozen=True)
class User:
    text: str


@dataclass(frozen=True)
class Result:
    """What a tool gave back for a call."""

    call: str
    name: str
    text: str


@dataclass(frozen=True)
class Talk:
    """A conversation as an agent would send it. `more` is put into the body as it is."""

    items: tuple[User | Model | Result, ...]
    system: str = ""
    tools: Mapping[str, Json] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Got:
    """One answer. `usage` is None where none came."""

    model: Model
    usage: Counts | None
    headers: Mapping[str, str]


class Refused(Exception):
    """A status other than 200."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status, body[:200])
        self.status, self.headers, self.body = status, headers, body


def ask(url: str, dialect: str, talk: Talk, stream: bool = False, headers: Mapping[str, str] | None = None) -> Got:
    """One request. Raises Refused, ValueError for what is no answer, http.client and socket errors."""
    target, body = request(dialect, talk, stream)
    status, found, data = post(url, target, body, headers)
    if status != 200:
        raise Refused(status, found, data)
    if not stream:
        model, usage = READ[dialect](json.loads(data))
    else:
        model, usage = READ[dialect](JOIN[dialect](list(events(data))))
    return Got(model, usage, found)


def post(
    url: str, target: str, body: Json | bytes, headers: Mapping[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers in lower case and body of one POST on a connection of its own."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json", "anthropic-version": "2023-06-01", **(headers or {})}
        connection.request("POST", target, data, sent)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return response.status, found, response.read()
    finally:
        connection.close()


def request(dialect: str, talk: Talk, stream: bool = False) -> tuple[str, Json]:
    """Target and body."""
    target, body = _WRITE[dialect](talk)
    if dialect == "gemini":
        target += ":streamGenerateContent?alt=sse" if stream else ":generateContent"
    elif stream:
        body["stream"] = True
    return target, {**body, **talk.more}


def events(data: bytes) -> Iterator[Json | str]:
    """Events of a stream: JSON, or the text `[DONE]`. Raises ValueError for a name that differs from the type."""
    for block in data.decode().split("\n\n"):
        if not block:
            continue
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        if fields["data"] == "[DONE]":
            yield "[DONE]"
            continue
        found = json.loads(fields["data"])
        if "event" in fields and fields["event"] != found["type"]:
            raise ValueError(f"event {fields['event']} of type {found['type']}")
        yield found


def _chat(talk: Talk) -> tuple[str, Json]:
    sent: list[Json] = [{"role": "system", "content": talk.system}] if talk.system else []
    for item in talk.items:
        if isinstance(item, User):
            sent.append({"role": "user", "content": item.text})
        elif isinstance(item, Result):
            sent.append({"role": "tool", "tool_call_id": item.call, "content": item.text})
        elif item.call:
            name, function = item.call[0], {"name": item.call[1], "arguments": item.call[2]}
            calls = [{"id": name, "type": "function", "function": function}]
            sent.append({"role": "assistant", "content": None, "tool_calls": calls})
        else:
            sent.append({"role": "assistant", "content": item.text})
    tools = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in talk.tools.items()]
    more = {"stream_options": {"include_usage": True}}
    return "/v1/chat/completions", {"model": "scripted", "messages": sent, "tools": tools, **more}


def _responses(talk: Talk) -> tuple[str, Json]:
    sent: list[Json] = []
    for item in talk.items:
        if isinstance(item, User):
            sent.append({"role": "user", "content": [{"type": "input_text", "text": item.text}]})
        elif isinstance(item, Result):
            sent.append({"type": "function_call_output", "call_id": item.call, "output": item.text})
        elif item.call:
            call = dict(zip(("call_id", "name", "arguments"), item.call, strict=True))
            sent.append({"type": "function_call", **call})
        else:
            sent.append({"role": "assistant", "content": [{"type": "output_text", "text": item.text}]})
    tools = [{"type": "function", "name": n, "parameters": s, "strict": False} for n, s in talk.tools.items()]
    return "/v1/responses", {"model": "scripted", "instructions": talk.system, "input": sent, "tools": tools}


def _anthropic(talk: Talk) -> tuple[str, Json]:
    sent: list[Json] = []
    for item in talk.items:
        if isinstance(item, User):
            sent.append({"role": "user", "content": item.text})
        elif isinstance(item, Result):
            block = {"type": "tool_result", "tool_use_id": item.call, "content": item.text}
            sent.append({"role": "user", "content": [block]})
        elif item.call:
            block = {"type": "tool_use", "id": item.call[0], "name": item.call[1], "input": json.loads(item.call[2])}
            sent.append({"role": "assistant", "content": [block]})
        else:
            sent.append({"role": "assistant", "content": [{"type": "text", "text": item.text}]})
    tools = [{"name": name, "input_schema": schema} for name, schema in talk.tools.items()]
    body = {"model": "scripted", "max_tokens": 1000, "messages": sent, "tools": tools}
    return "/v1/messages", {**body, "system": [{"type": "text", "text": talk.system}]} if talk.system else body


def _gemini(talk: Talk) -> tuple[str, Json]:
    sent: list[Json] = []
    for item in talk.items:
        if isinstance(item, User):
            sent.append({"role": "user", "parts": [{"text": item.text}]})
        elif isinstance(item, Result):
            part = {"functionResponse": {"name": item.name, "response": {"output": item.text}}}
            sent.append({"role": "user", "parts": [part]})
        elif item.call:
            call = {"id": item.call[0], "name": item.call[1], "args": json.loads(item.call[2])}
            sent.append({"role": "model", "parts": [{"functionCall": call}]})
        else:
            sent.append({"role": "model", "parts": [{"text": item.text}]})
    body: Json = {"contents": sent}
    if talk.system:
        body["systemInstruction"] = {"parts": [{"text": talk.system}]}
    if talk.tools:
        offered = [{"name": name, "parametersJsonSchema": schema} for name, schema in talk.tools.items()]
        body["tools"] = [{"functionDeclarations": offered}]
    return "/v1beta/models/scripted", body


_WRITE = {"chat": _chat, "responses": _responses, "anthropic": _anthropic, "gemini": _gemini}
