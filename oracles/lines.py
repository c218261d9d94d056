"""Lines over a sandbox's byte pipe, with caps and deadlines.

Invariant: no more than `limit` bytes plus one read are held, and no wait is longer than asked for.
"""

from __future__ import annotations

import time

from containers.sandbox import Channel

_READ = 1 << 20


class Gone(Exception):
    """The other side closed the pipe or died."""


class TooLong(Exception):
    """A line, or what follows the last one, is longer than it may be."""


class Lines:
    """Reads and writes newline-terminated lines on `channel`; a line has at most `limit` bytes."""

    def __init__(self, channel: Channel, limit: int) -> None:
        self._channel, self._limit = channel, limit
        self._parts: list[bytes] = []  # no newline in any but the last
        self._held = 0

    def send(self, line: bytes) -> None:
        """Write one line (without newline). Raises Gone."""
        try:
            self._channel.send(line + b"\n")
        except OSError:
            raise Gone("the pipe is closed") from None

    def next(self, timeout: float) -> bytes:
        """The next line without its newline. Raises Gone, TooLong, or TimeoutError after `timeout` seconds."""
        until = time.monotonic() + timeout
        while not self._parts or b"\n" not in self._parts[-1]:
            if self._held > self._limit:
                raise TooLong(f"more than {self._limit} bytes")
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no line in {timeout:.0f} s")
            self._add(self._channel.receive(_READ, left))
        line, _, rest = b"".join(self._parts).partition(b"\n")
        self._parts, self._held = ([rest] if rest else []), len(rest)
        if len(line) > self._limit:
            raise TooLong(f"more than {self._limit} bytes")
        return line

    def waiting(self) -> bool:
        """Whether bytes have come that nobody asked for (as far as they were read)."""
        return bool(self._parts)

    def finish(self, timeout: float) -> None:
        """Wait for the end of the stream. Raises TooLong when more bytes come, TimeoutError when it stays open."""
        if not self._parts and self._channel.receive(1, timeout) == b"":
            return
        raise TooLong("bytes after the last line")

    def _add(self, part: bytes) -> None:
        if not part:
            raise Gone("the stream ended")
        self._parts.append(part)
        self._held += len(part)
