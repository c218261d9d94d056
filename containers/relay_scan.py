"""Picking a few values out of JSON and server-sent events that pass by, whatever their size.

Invariant: what is kept does not grow with what is fed (a value of `_VALUE` bytes and a key of `_KEY` bytes at most),
and the finding does not depend on where the bytes were split. Nothing here decides whether the JSON is valid: what
was picked is parsed by the standard library, and a text that is no JSON yields nothing or nonsense that its reader
must check.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from typing import Any

Path = tuple[str, ...]  # keys from the root; "*" is any element of an array

_VALUE, _KEY = 1 << 16, 256
_TOKEN = re.compile(rb'["{}\[\],:]')
_BRACKET = re.compile(rb'["{}\[\]]')
_BACKSLASH = ord("\\")
_DATA = b"data:"
_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)  # up to its end or a lone backslash at that of the data


class Picker:
    """Feed it one JSON text in pieces; `found` has the last value at each wanted path, `seen` how many there were.

    A value that is too long or does not parse is not in `found`, but is counted in `seen`.
    """

    def __init__(self, wanted: Collection[Path]) -> None:
        self._wanted = frozenset(wanted)
        self._deepest = max(map(len, self._wanted))
        self.found: dict[Path, Any] = {}
        self.seen: dict[Path, int] = {}
        self._frames: list[str] = []  # key of each open container's current value; "*" in an array
        self._is_array: list[bool] = []
        self._buried = 0  # open containers below those of `_frames`, of which nothing is wanted
        self._in_string = self._escaped = self._key_is_next = False
        self._key: bytearray | None = None  # of the object at hand, while its string is read
        self._value: bytearray | None = None  # of the wanted path at hand
        self._value_depth = 0

    def feed(self, data: bytes) -> None:
        """The next piece."""
        at = 0
        while at < len(data):
            at = self._string(data, at) if self._in_string else self._between(data, at)

    def _string(self, data: bytes, at: int) -> int:
        """Consume a string up to its end, an escape or the end of `data`."""
        if self._escaped:
            self._escaped = False
            self._keep(data, at, at + 1)
            return at + 1
        found = _STRING.match(data, at)
        assert found is not None  # it matches nothing as well
        end = min(found.end() + 1, len(data))
        self._keep(data, at, end)
        if end > found.end():
            self._escaped = data[end - 1] == _BACKSLASH
            self._in_string = self._escaped
        return end

    def _between(self, data: bytes, at: int) -> int:
        """Consume what is outside strings up to the next token."""
        found = (_BRACKET if self._buried else _TOKEN).search(data, at)
        if found is None:
            self._keep(data, at, len(data))
            return len(data)
        token, start = found[0], found.start()
        self._keep(data, at, start)
        if token == b'"':
            self._in_string = True
            if self._key_is_next and not self._buried:
                self._key = bytearray()
            self._keep(data, start, start + 1)
        elif token in b"{[":
            self._keep(data, start, start + 1)
            self._open(token == b"[")
        elif token in b"}]":
            self._close(data, start)
        elif token == b":":
            self._keep(data, start, start + 1)
            self._name()
        else:
            self._comma(data, start)
        return start + 1

    def _keep(self, data: bytes, start: int, end: int) -> None:
        if self._key is not None and self._in_string and len(self._key) <= _KEY:
            self._key += data[start:end][: _KEY + 1]
        if self._value is not None and len(self._value) <= _VALUE:
            self._value += data[start:end][: _VALUE + 1]

    def _open(self, is_array: bool) -> None:
        if self._buried or len(self._frames) > self._deepest:
            self._buried += 1
            return
        self._frames.append("*" if is_array else "")
        self._is_array.append(is_array)
        self._key_is_next = not is_array
        if is_array:
            self._begin_value()

    def _close(self, data: bytes, at: int) -> None:
        if self._buried:
            self._buried -= 1
            self._keep(data, at, at + 1)
            return
        if self._frames:
            self._close_value(len(self._frames))
            self._frames.pop()
            self._is_array.pop()
        self._keep(data, at, at + 1)
        self._key_is_next = False

    def _comma(self, data: bytes, at: int) -> None:
        self._close_value(len(self._frames))
        self._keep(data, at, at + 1)
        if self._frames:
            self._key_is_next = not self._is_array[-1]
            if self._is_array[-1]:
                self._begin_value()

    def _name(self) -> None:
        """A key is complete."""
        if not self._frames or self._is_array[-1] or self._key is None:
            return
        name = _parsed(bytes(self._key)) if len(self._key) <= _KEY else None
        self._frames[-1] = name if isinstance(name, str) else ""
        self._key, self._key_is_next = None, False
        self._begin_value()

    def _begin_value(self) -> None:
        if self._value is None and tuple(self._frames) in self._wanted:
            self._value, self._value_depth = bytearray(), len(self._frames)

    def _close_value(self, depth: int) -> None:
        if self._value is None or depth != self._value_depth:
            return
        text, path = bytes(self._value), tuple(self._frames)
        self._value = None
        if not text.strip():
            return  # an empty array
        self.seen[path] = self.seen.get(path, 0) + 1
        self.found.pop(path, None)
        if len(text) <= _VALUE:
            value = _parsed(text)
            if value is not _NOTHING:
                self.found[path] = value


_NOTHING = object()


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


class Events:
    """Server-sent events: calls `begin` at each event's first data, feeds the data to what it gave, then `done`."""

    def __init__(self, begin: Callable[[], Picker], done: Callable[[Picker], None]) -> None:
        self._begin, self._done = begin, done
        self._event: Picker | None = None
        self._head = b""
        self._mode = "head"  # then "data" or "skip", up to the end of the line
        self._after_return = False

    def feed(self, data: bytes) -> None:
        """The next bytes of the stream."""
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
            self._after_return = False
        if not data:
            return
        self._after_return = data.endswith(b"\r")
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines[:-1]:
            self._part(line)
            self._end_line()
        self._part(lines[-1])

    def end(self) -> None:
        """The stream is over; an event that no blank line ended counts, as clients are seen to take it."""
        self._end_event()

    def _part(self, piece: bytes) -> None:
        if self._mode == "head":
            lacking = len(_DATA) - len(self._head)
            self._head += piece[:lacking]
            if len(self._head) < len(_DATA):
                return
            piece = piece[lacking:]
            self._mode = "data" if self._head == _DATA else "skip"
            if self._mode == "data":
                self._more()
        if self._mode == "data" and self._event is not None:
            self._event.feed(piece)

    def _more(self) -> None:
        """A line of data begins."""
        if self._event is None:
            self._event = self._begin()
        else:
            self._event.feed(b"\n")

    def _end_line(self) -> None:
        if self._mode == "head" and not self._head:
            self._end_event()
        self._mode, self._head = "head", b""

    def _end_event(self) -> None:
        event, self._event = self._event, None
        if event is not None:
            self._done(event)
