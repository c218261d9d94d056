"""The chat completions dialect.

Invariant: the usage comes in a stream only when `stream_options.include_usage` asks for it, as a last chunk without
choices; `prompt_tokens` hold the cached ones, `completion_tokens` those of the hidden thoughts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .dialects import CREATED, Answer, Asked, BadRequest, Json, Tool, assistant, merged, need, pieces, plain, sse
from .script import Message, call_text

_SYSTEM = ("system", "developer")
_TYPES = {401: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_error"}


class Chat:
    """POST …/chat/completions."""

    name = "chat"

    def parse(self, body: Json, target: str) -> Asked:
        sent = need(body, "messages", list)
        options = body.get("stream_options") or {}
        form = (body.get("response_format") or {}).get("json_schema") or {}
        return Asked(
            dialect=self.name,
            model=need(body, "model", str),
            system="\n\n".join(plain(m.get("content")) for m in sent if m.get("role") in _SYSTEM),
            messages=merged(_message(m) for m in sent if m.get("role") not in _SYSTEM),
            tools=tuple(_tool(t) for t in body.get("tools") or () if t.get("type") == "function"),
            stream=bool(body.get("stream")),
            usage_wanted=bool(options.get("include_usage")),
            schema=form.get("schema"),
        )

    def whole(self, answer: Answer) -> Json:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
        if answer.call:
            message["tool_calls"] = [_call(answer, answer.call.arguments)]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(answer)}
        return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer)}

    def events(self, answer: Answer, asked: Asked) -> Iterator[bytes]:
        head = _head(answer, "chat.completion.chunk")
        if asked.usage_wanted:
            head["usage"] = None

        def chunk(delta: Json, reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            return sse({**head, "choices": [choice]})

        yield chunk({"role": "assistant", "content": None if answer.call else "", "refusal": None})
        if answer.text:
            for piece in pieces(answer.text):
                yield chunk({"content": piece})
        if answer.call:
            yield chunk({"tool_calls": [{"index": 0, **_call(answer, "")}]})
            for piece in pieces(answer.call.arguments):
                yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        yield chunk({}, _reason(answer))
        if asked.usage_wanted:
            yield sse({**head, "choices": [], "usage": _usage(answer)})
        yield sse("[DONE]")

    def error(self, status: int, message: str) -> Json:
        kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _message(sent: Json) -> Message:
    role, text = sent.get("role"), plain(sent.get("content"))
    if role == "assistant":
        calls = [(call.get("id"), call["function"]) for call in sent.get("tool_calls") or ()]
        return assistant([text], [(i, c["name"], call_text(c["name"], c["arguments"])) for i, c in calls])
    if role not in ("user", "tool"):
        raise BadRequest(f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'tool'.")
    return Message(role, text)


def _tool(sent: Json) -> Tool:
    function = sent["function"]
    return Tool(function["name"], schema=function.get("parameters") or {})


def _call(answer: Answer, arguments: str) -> dict[str, Any]:
    assert answer.call is not None
    function = {"name": answer.call.tool.name, "arguments": arguments}
    return {"id": f"call_{answer.id[:24]}", "type": "function", "function": function}


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.id[:24]}",
        "object": kind,
        "created": CREATED,
        "model": answer.model,
        "system_fingerprint": None,
    }


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.call else "stop"


def _usage(answer: Answer) -> Json:
    used = answer.usage
    out = used.output + used.thoughts
    return {
        "prompt_tokens": used.input,
        "completion_tokens": out,
        "total_tokens": used.input + out,
        "prompt_tokens_details": {"cached_tokens": used.cached, "cache_write_tokens": used.written},
        "completion_tokens_details": {"reasoning_tokens": used.thoughts},
    }
