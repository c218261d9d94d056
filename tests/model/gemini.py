"""The Gemini dialect.

Invariant: `candidatesTokenCount` leaves the hidden thoughts out, which are counted beside it; every chunk of a stream
holds the counts so far, so the last one holds the total. Names of fields may come in camel or in snake case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .dialects import Answer, Asked, BadRequest, Json, Tool, assistant, merged, need, pieces, plain, sse
from .script import Message, call_text, tokens

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class Gemini:
    """POST …/models/NAME:METHOD with the methods generateContent, streamGenerateContent and countTokens."""

    name = "gemini"

    def parse(self, body: Json, target: str) -> Asked:
        model, _, method = target.rpartition("/")[2].partition(":")
        body = either(body, "generateContentRequest") or body
        config = either(body, "generationConfig") or {}
        tools = [f for tool in body.get("tools") or () for f in either(tool, "functionDeclarations") or ()]
        return Asked(
            dialect=self.name,
            model=model,
            system=plain((either(body, "systemInstruction") or {}).get("parts")),
            messages=merged(_messages(need(body, "contents", list))),
            tools=tuple(Tool(tool["name"], schema=_schema(tool)) for tool in tools),
            stream=method == "streamGenerateContent",
            schema=either(config, "responseJsonSchema") or either(config, "responseSchema"),
        )

    def whole(self, answer: Answer) -> Json:
        return _response(answer, _part(answer, answer.text), answer.usage.output, last=True)

    def events(self, answer: Answer, asked: Asked) -> Iterator[bytes]:
        for chunk in self.chunks(answer):
            yield sse(chunk)

    def listed(self, answer: Answer) -> Iterator[bytes]:
        """The stream of a request that did not ask for SSE: one JSON array, an element at a time."""
        for number, chunk in enumerate(self.chunks(answer)):
            yield (",\n" if number else "[").encode() + json.dumps(chunk, ensure_ascii=False).encode()
        yield b"]"

    def chunks(self, answer: Answer) -> Iterator[Json]:
        parts = [answer.text] if answer.call else list(pieces(answer.text))
        count, before = 0, " "
        for number, text in enumerate(parts, 1):
            goes_on = not before[-1].isspace() and not text[:1].isspace()
            count, before = count + tokens(text) - goes_on, text or before
            last = number == len(parts)
            yield _response(answer, _part(answer, text), answer.usage.output if last else count, last=last)

    def error(self, status: int, message: str) -> Json:
        return {"error": {"code": status, "message": message, "status": _STATUS.get(status, "UNKNOWN")}}


def either(body: Json, camel: str) -> Any:
    """A field by its name in camel case or, if that is not there, in snake case."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in camel)
    return body.get(camel, body.get(snake))


def _response(answer: Answer, part: Json, output: int, last: bool) -> Json:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    used = answer.usage
    counts = {"promptTokenCount": used.input, "candidatesTokenCount": output}
    if used.cached:
        counts["cachedContentTokenCount"] = used.cached
    if used.thoughts:
        counts["thoughtsTokenCount"] = used.thoughts
    counts["totalTokenCount"] = used.input + output + used.thoughts
    head = {"modelVersion": answer.model, "responseId": answer.id[:24]}
    return {"candidates": [candidate], "usageMetadata": counts, **head}


def _part(answer: Answer, text: str) -> Json:
    if answer.call is None:
        return {"text": text}
    call = answer.call
    return {"functionCall": {"id": answer.id[:24], "name": call.tool.name, "args": call.as_object()}}


def _schema(tool: Json) -> Json:
    return either(tool, "parametersJsonSchema") or either(tool, "parameters") or {}


def _messages(sent: Iterable[Json]) -> Iterator[Message]:
    for content in sent:
        role, parts = content.get("role", "user"), list(content.get("parts") or ())
        if role == "model":
            calls = [call for part in parts if (call := either(part, "functionCall"))]
            texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
            made = [(c.get("id"), c["name"], call_text(c["name"], c.get("args") or {})) for c in calls]
            yield assistant(["".join(texts)], made)
        elif role in ("user", "function"):
            yield from _user(parts)
        else:
            raise BadRequest("Please use a valid role: user, model.")


def _user(parts: Iterable[Json]) -> Iterator[Message]:
    texts: list[Json] = []
    for part in parts:
        result = either(part, "functionResponse")
        if result is None:
            texts.append(part)
            continue
        if texts:
            yield Message("user", plain(texts))
            texts = []
        yield Message("tool", _result(result.get("response")))
    if texts:
        yield Message("user", plain(texts))


def _result(response: Any) -> str:
    """What a tool gave back: its output where it is one text, else the JSON."""
    if isinstance(response, dict) and len(response) == 1:
        only = next(iter(response.values()))
        if isinstance(only, str):
            return only
    return json.dumps(response, sort_keys=True, ensure_ascii=False)
