"""How answers are read back in tests: whole ones, and streams put together to whole ones.

Invariant: a stream without its closing event is an error, as it is for the real clients. Tokens are counted by the
convention of `client`: `input` holds the cached and the written ones, `output` the thoughts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Model:
    """What the model said: a text, or a call by id, name and the JSON text of its arguments."""

    text: str = ""
    call: tuple[str, str, str] | None = None


Counts: TypeAlias = tuple[int, int, int, int]
_Read: TypeAlias = tuple[Model, Counts | None]


def _read_chat(whole: Json) -> _Read:
    message, used = whole["choices"][0]["message"], whole.get("usage")
    calls = message.get("tool_calls")
    call = (calls[0]["id"], calls[0]["function"]["name"], calls[0]["function"]["arguments"]) if calls else None
    assert whole["choices"][0]["finish_reason"] == ("tool_calls" if call else "stop")
    if not used:
        return Model(message["content"] or "", call), None
    details = used["prompt_tokens_details"]
    counts = (used["prompt_tokens"], details["cached_tokens"], details["cache_write_tokens"], used["completion_tokens"])
    return Model(message["content"] or "", call), counts


def _join_chat(found: list[Json | str]) -> Json:
    if found[-1] != "[DONE]":
        raise ValueError("the stream ended before [DONE]")
    chunks = [chunk for chunk in found if isinstance(chunk, dict)]
    message: Json = {"content": ""}
    reason, usage = None, None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            delta, reason = choice["delta"], choice["finish_reason"] or reason
            message["content"] += delta.get("content") or ""
            for part in delta.get("tool_calls", ()):
                if "id" in part:
                    message["tool_calls"] = [part]
                else:
                    message["tool_calls"][0]["function"]["arguments"] += part["function"]["arguments"]
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _read_responses(whole: Json) -> _Read:
    assert whole["status"] == "completed"
    (item,), used = whole["output"], whole["usage"]
    details = used["input_tokens_details"]
    counts = (used["input_tokens"], details["cached_tokens"], details["cache_write_tokens"], used["output_tokens"])
    if item["type"] == "message":
        return Model(item["content"][0]["text"]), counts
    return Model("", (item["call_id"], item["name"], item["arguments"])), counts


def _join_responses(found: list[Json | str]) -> Json:
    events = [event for event in found if isinstance(event, dict)]
    assert [event["sequence_number"] for event in events] == list(range(len(found)))
    if events[-1]["type"] != "response.completed":
        raise ValueError("the stream ended before response.completed")
    whole: Json = events[-1]["response"]
    item = whole["output"][0]
    deltas = "".join(event["delta"] for event in events if event["type"].endswith(".delta"))
    assert deltas == (item["content"][0]["text"] if item["type"] == "message" else item["arguments"])
    return whole


def _read_anthropic(whole: Json) -> _Read:
    (block,), used = whole["content"], whole["usage"]
    cached, written = used["cache_read_input_tokens"], used["cache_creation_input_tokens"]
    counts = (used["input_tokens"] + cached + written, cached, written, used["output_tokens"])
    assert whole["stop_reason"] == ("tool_use" if block["type"] == "tool_use" else "end_turn")
    if block["type"] == "text":
        return Model(block["text"]), counts
    return Model("", (block["id"], block["name"], json.dumps(block["input"]))), counts


def _join_anthropic(found: list[Json | str]) -> Json:
    whole: Json = {}
    text = ""
    for event in found:
        assert isinstance(event, dict)
        if event["type"] == "message_start":
            whole = event["message"]
        elif event["type"] == "content_block_start":
            whole["content"] = [event["content_block"]]
        elif event["type"] == "content_block_delta":
            text += event["delta"].get("text", "") + event["delta"].get("partial_json", "")
        elif event["type"] == "message_delta":
            whole = {**whole, **event["delta"], "usage": {**whole["usage"], **event["usage"]}}
    if not found or found[-1] != {"type": "message_stop"}:
        raise ValueError("the stream ended before message_stop")
    block = whole["content"][0]
    block.update({"text": text} if block["type"] == "text" else {"input": json.loads(text)})
    return whole


def _read_gemini(whole: Json) -> _Read:
    (candidate,), used = whole["candidates"], whole["usageMetadata"]
    assert candidate["finishReason"] == "STOP"
    (part,) = candidate["content"]["parts"]
    output = used["candidatesTokenCount"] + used.get("thoughtsTokenCount", 0)
    assert used["totalTokenCount"] == used["promptTokenCount"] + output
    counts = (used["promptTokenCount"], used.get("cachedContentTokenCount", 0), 0, output)
    if "text" in part:
        return Model(part["text"]), counts
    call = part["functionCall"]
    return Model("", (call["id"], call["name"], json.dumps(call["args"]))), counts


def _join_gemini(found: list[Json | str]) -> Json:
    chunks = [chunk for chunk in found if isinstance(chunk, dict)]
    whole = chunks[-1]
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    if "finishReason" not in whole["candidates"][0]:
        raise ValueError("the stream ended before a reason for its end")
    if "text" in parts[0]:
        whole["candidates"][0]["content"]["parts"] = [{"text": "".join(part["text"] for part in parts)}]
    return whole


READ = {"chat": _read_chat, "responses": _read_responses, "anthropic": _read_anthropic, "gemini": _read_gemini}
JOIN = {"chat": _join_chat, "responses": _join_responses, "anthropic": _join_anthropic, "gemini": _join_gemini}
