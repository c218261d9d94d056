"""Tokens of one exchange, read from the answer as it passes: four dialects, streamed or not.

    chat         `usage` of the answer, or of the last chunk that has one (`stream_options.include_usage`)
    responses    `usage` of the answer, or of the response in the event that ends the stream
    anthropic    `usage` of the answer; streamed: of `message_start`, brought up to date by `message_delta`
    gemini       `usageMetadata` of the answer, or of the last chunk, once a chunk named the end

Invariant: a count is what the endpoint said of a finished answer or it is None; nothing is estimated, and an answer
that was cut has no count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from containers.relay_scan import Events, Path, Picker

_MOST = 10**12  # tokens; what claims more is nonsense


class Dialect(StrEnum):
    """The interface that an agent speaks."""

    CHAT = "chat"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


@dataclass(frozen=True)
class Tokens:
    """Of one exchange. `input` is everything that was read, `cached` the part of it that came from a cache and
    `written` the part that was put into one; `output` has what was thought as well."""

    input: int
    output: int
    cached: int = 0
    written: int = 0


_WANTED: dict[Dialect, tuple[Path, ...]] = {
    Dialect.CHAT: (("usage",),),
    Dialect.RESPONSES: (("usage",), ("response", "usage"), ("type",)),
    Dialect.ANTHROPIC: (("usage",), ("message", "usage")),
    Dialect.GEMINI: (("usageMetadata",), ("promptFeedback",), ("candidates", "*", "finishReason")),
}
_LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")


class UsageReader:
    """Feed it the body of one answer. `streamed` says that it is server-sent events."""

    def __init__(self, dialect: Dialect, streamed: bool) -> None:
        self._dialect, self._streamed = dialect, streamed
        self._usage: dict[str, Any] = {}
        self._ended = self._final = False
        self._whole = Picker(_WANTED[dialect])
        self._events = Events(lambda: Picker(_WANTED[dialect]), self._take)

    def feed(self, data: bytes) -> None:
        """The next bytes."""
        if self._streamed:
            self._events.feed(data)
        else:
            self._whole.feed(data)

    @property
    def finished(self) -> bool:
        """Whether what was fed so far has the usage of the whole answer. A chat stream may tell it as it grows, and so
        is finished at its end only."""
        if not self._streamed:
            self._take(self._whole)
        return self._final and not (self._streamed and self._dialect is Dialect.CHAT)

    def tokens(self) -> Tokens | None:
        """What the whole answer said; None when it said nothing that can be used. Call it once, at the end."""
        if self._streamed:
            self._events.end()
        else:
            self._take(self._whole)
        return _READ[self._dialect](self._usage) if self._final else None

    def _take(self, picked: Picker) -> None:
        """One event, or the whole answer."""
        if self._dialect is Dialect.RESPONSES and self._streamed and picked.found.get(("type",)) not in _LAST_EVENTS:
            return
        ends = (picked.found.get(path) for path in (("promptFeedback",), ("candidates", "*", "finishReason")))
        self._ended = self._ended or any(ends)
        for path, value in picked.found.items():
            if path[-1] in ("usage", "usageMetadata") and isinstance(value, dict):
                told = {key: part for key, part in value.items() if part is not None}
                self._usage = {**self._usage, **told} if self._dialect is Dialect.ANTHROPIC else told
                self._final = self._final or self._is_final(path)

    def _is_final(self, path: Path) -> bool:
        """Whether usage at this path, at this point, is that of a finished answer."""
        if self._dialect is Dialect.GEMINI:
            return self._ended
        return self._dialect is not Dialect.ANTHROPIC or path == ("usage",)


def _chat(usage: Mapping[str, Any]) -> Tokens | None:
    cached = _part(usage, "prompt_tokens_details", "cached_tokens")
    if cached == 0:
        cached = _count(usage, "prompt_cache_hit_tokens", 0)  # as DeepSeek names it
    written = _part(usage, "prompt_tokens_details", "cache_write_tokens")
    return _made(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), cached, written)


def _responses(usage: Mapping[str, Any]) -> Tokens | None:
    cached = _part(usage, "input_tokens_details", "cached_tokens")
    written = _part(usage, "input_tokens_details", "cache_write_tokens")
    return _made(_count(usage, "input_tokens"), _count(usage, "output_tokens"), cached, written)


def _anthropic(usage: Mapping[str, Any]) -> Tokens | None:
    """Its input leaves out what was read from a cache and what was written to one."""
    fresh, read = _count(usage, "input_tokens"), _count(usage, "cache_read_input_tokens", 0)
    written = _count(usage, "cache_creation_input_tokens", 0)
    if fresh is None or read is None or written is None:
        return None
    return _made(fresh + read + written, _count(usage, "output_tokens"), read, written)


def _gemini(usage: Mapping[str, Any]) -> Tokens | None:
    """A count of zero is left out, as everywhere in this interface; tool results and thoughts stand apart."""
    prompt, tools = _count(usage, "promptTokenCount"), _count(usage, "toolUsePromptTokenCount", 0)
    said, thought = _count(usage, "candidatesTokenCount", 0), _count(usage, "thoughtsTokenCount", 0)
    if prompt is None or tools is None or said is None or thought is None:
        return None
    return _made(prompt + tools, said + thought, _count(usage, "cachedContentTokenCount", 0))


_READ = {
    Dialect.CHAT: _chat,
    Dialect.RESPONSES: _responses,
    Dialect.ANTHROPIC: _anthropic,
    Dialect.GEMINI: _gemini,
}


def _made(read: int | None, said: int | None, cached: int | None, written: int | None = 0) -> Tokens | None:
    if read is None or said is None or cached is None or written is None or cached + written > read:
        return None
    return Tokens(read, said, cached, written)


def _count(usage: Mapping[str, Any], name: str, absent: int | None = None) -> int | None:
    value = usage.get(name, absent)
    return value if type(value) is int and 0 <= value <= _MOST else None


def _part(usage: Mapping[str, Any], group: str, name: str) -> int | None:
    """A count in a group of details; without the group, or the count in it, nothing was served from a cache."""
    details = usage.get(group, {})
    return _count({k: v for k, v in details.items() if v is not None}, name, 0) if isinstance(details, dict) else None
