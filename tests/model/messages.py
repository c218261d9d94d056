"""The Anthropic messages dialect.

Invariant: `input_tokens` are those that were neither read from nor written to the cache, so the three counts add up
to what was sent; in a stream the input counts come with `message_start`, the final output count with `message_delta`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .dialects import Answer, Asked, BadRequest, Json, Tool, assistant, merged, need, pieces, plain, sse
from .script import Message, call_text

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Anthropic:
    """POST …/messages and …/messages/count_tokens."""

    name = "anthropic"

    def parse(self, body: Json, target: str) -> Asked:
        if not target.endswith("/count_tokens"):
            need(body, "max_tokens", int)
        sent = need(body, "messages", list)
        said = [body.get("system"), *(m.get("content") for m in sent if m.get("role") == "system")]
        form = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        return Asked(
            dialect=self.name,
            model=need(body, "model", str),
            system="\n\n".join(text for text in map(plain, said) if text),
            messages=merged(_messages(m for m in sent if m.get("role") != "system")),
            tools=tuple(Tool(tool["name"], schema=tool.get("input_schema") or {}) for tool in body.get("tools") or ()),
            stream=bool(body.get("stream")),
            writes_cache=_marks_cache(body),
            schema=form.get("schema"),
        )

    def whole(self, answer: Answer) -> Json:
        return {
            **_message(answer),
            "content": [_block(answer)],
            "stop_reason": _reason(answer),
            "usage": _usage(answer),
        }

    def events(self, answer: Answer, asked: Asked) -> Iterator[bytes]:
        for event in _events(answer):
            yield sse(event, event["type"])

    def error(self, status: int, message: str) -> Json:
        kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    begun = {**_usage(answer), "output_tokens": 1}
    begun.pop("output_tokens_details")
    start = {**_message(answer), "content": [], "stop_reason": None, "usage": begun}
    yield {"type": "message_start", "message": start}
    yield {"type": "content_block_start", "index": 0, "content_block": {**_block(answer), **_empty(answer)}}
    yield {"type": "ping"}
    for piece in pieces(answer.call.arguments if answer.call else answer.text):
        delta = {"type": "input_json_delta", "partial_json": piece}
        if not answer.call:
            delta = {"type": "text_delta", "text": piece}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": _reason(answer), "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": _usage(answer)}
    yield {"type": "message_stop"}


def _message(answer: Answer) -> dict[str, Any]:
    head = {"id": f"msg_{answer.id[:24]}", "type": "message", "role": "assistant", "model": answer.model}
    return {**head, "stop_sequence": None}


def _block(answer: Answer) -> dict[str, Any]:
    if answer.call is None:
        return {"type": "text", "text": answer.text}
    call = answer.call
    return {"type": "tool_use", "id": f"toolu_{answer.id[:24]}", "name": call.tool.name, "input": call.as_object()}


def _empty(answer: Answer) -> Json:
    return {"input": {}} if answer.call else {"text": ""}


def _reason(answer: Answer) -> str:
    return "tool_use" if answer.call else "end_turn"


def _usage(answer: Answer) -> dict[str, Any]:
    used = answer.usage
    return {
        "input_tokens": used.fresh,
        "cache_creation_input_tokens": used.written,
        "cache_read_input_tokens": used.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": used.written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": used.output + used.thoughts,
        "output_tokens_details": {"thinking_tokens": used.thoughts},
    }


def _messages(sent: Iterable[Json]) -> Iterator[Message]:
    for message in sent:
        role, content = message.get("role"), message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
        if role == "assistant":
            used = [block for block in blocks if block.get("type") == "tool_use"]
            texts = [block["text"] for block in blocks if block.get("type") == "text"]
            yield assistant(texts, [(b["id"], b["name"], call_text(b["name"], b["input"])) for b in used])
        elif role == "user":
            yield from _user(blocks)
        else:
            raise BadRequest(f'messages: Unexpected role "{role}". Allowed roles are "user", "assistant" or "system".')


def _user(blocks: Iterable[Json]) -> Iterator[Message]:
    """Results of tools as messages of their own, and the texts between them as one message of the user."""
    texts: list[Json] = []
    for block in blocks:
        if block.get("type") != "tool_result":
            texts.append(block)
            continue
        if texts:
            yield Message("user", plain(texts))
            texts = []
        yield Message("tool", plain(block.get("content")))
    if texts:
        yield Message("user", plain(texts))


def _marks_cache(value: Any) -> bool:
    """Whether a part of the request asks to be written to the cache."""
    if isinstance(value, dict):
        return "cache_control" in value or any(_marks_cache(v) for k, v in value.items() if k != "input_schema")
    return isinstance(value, list) and any(map(_marks_cache, value))
