"""What the four dialects have in common: a request as it was understood, an answer before it is written, SSE.

Invariant: everything a dialect writes is made from one `Answer`, so that streamed or not, and in whatever dialect, the
same script says the same thing and counts the same tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from .script import Message

CREATED = 1_767_225_600  # 2026-01-01: answers are the same bytes whenever they are given
PIECES = 64  # deltas of one streamed text at most
_SHORTEST = 8  # characters of a delta, but for the last

Json = Mapping[str, Any]


class BadRequest(Exception):
    """A request that the real endpoint would refuse with status 400."""


@dataclass(frozen=True)
class Tool:
    """A tool that a request offers. `kind` is that of the Responses API; the others know `function` only."""

    name: str
    kind: Literal["function", "custom", "local_shell", "shell"] = "function"
    schema: Json = field(default_factory=dict)
    namespace: str = ""

    @property
    def label(self) -> str:
        """The name with that of its namespace before it."""
        if not self.namespace:
            return self.name
        return f"{self.namespace.removesuffix('__')}__{self.name}"


@dataclass(frozen=True)
class Asked:
    """A request as it was understood. `schema` is that of the JSON that the answer shall be, if any."""

    dialect: str
    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    stream: bool = False
    usage_wanted: bool = True
    writes_cache: bool = False
    schema: Json | None = None


@dataclass(frozen=True)
class Usage:
    """Tokens. `input` is all that was sent; `cached` and `written` are parts of it; `thoughts` add to `output`."""

    input: int
    cached: int
    written: int
    output: int
    thoughts: int

    @property
    def fresh(self) -> int:
        return self.input - self.cached - self.written


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool; `arguments` is the text that the model wrote, which need not be JSON."""

    tool: Tool
    arguments: str

    def as_object(self) -> Json:
        """The arguments for a dialect that can carry an object only; what is none comes under the key `malformed`."""
        try:
            found = json.loads(self.arguments)
        except ValueError:
            return {"malformed": self.arguments}
        return found if isinstance(found, dict) else {"malformed": self.arguments}


@dataclass(frozen=True)
class Answer:
    """A text or a tool call. `id` is hexadecimal and the same for the same request."""

    id: str
    model: str
    text: str
    call: ToolCall | None
    usage: Usage


class Dialect(Protocol):
    """How one API reads requests and writes answers."""

    name: str

    def parse(self, body: Json, target: str) -> Asked:
        """Raises BadRequest. `target` is the path, in which Gemini names model and method."""

    def whole(self, answer: Answer) -> Json: ...

    def events(self, answer: Answer, asked: Asked) -> Iterator[bytes]: ...

    def error(self, status: int, message: str) -> Json: ...


def sse(data: Json | str, event: str = "") -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


def pieces(text: str) -> Iterator[str]:
    """A text cut into deltas: at least one, at most `PIECES`, none empty but for an empty text."""
    size = max(_SHORTEST, -(-len(text) // PIECES))
    yield text[:size]
    for start in range(size, len(text), size):
        yield text[start : start + size]


def need(body: Json, key: str, kind: type | tuple[type, ...]) -> Any:
    """A required field of a request."""
    if not isinstance(body.get(key), kind):
        raise BadRequest(f"Missing required parameter or wrong type: '{key}'.")
    return body[key]


def plain(content: Any) -> str:
    """Text of a content field: a string, or a list of parts, of which those that are no text leave their type."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    return "\n".join(_part(part) for part in content)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text")
    return text if isinstance(text, str) else f"[{part.get('type', 'part')}]"


def merged(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Messages with those of one assistant's turn, which some dialects send as several items, made into one."""
    found: list[Message] = []
    for message in messages:
        if message.role == "assistant" and found and found[-1].role == "assistant":
            last = found.pop()
            text = "\n".join(part for part in (last.text, message.text) if part)
            message = Message("assistant", text, last.called + message.called, last.ids + message.ids)
        found.append(message)
    return tuple(found)


def assistant(texts: Sequence[str], calls: Sequence[tuple[str | None, str, str]]) -> Message:
    """An assistant's message of texts and calls (id, name, call as text)."""
    said = [*(text for text in texts if text), *(text for _, _, text in calls)]
    ids = tuple(name for name, _, _ in calls if name)
    return Message("assistant", "\n".join(said), tuple(name for _, name, _ in calls), ids)


def parsed(raw: bytes) -> Json:
    """The JSON object of a request's body. Raises BadRequest."""
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise BadRequest(f"We could not parse the JSON body of your request: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("The body of the request is no JSON object.")
    return body
