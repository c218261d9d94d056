"""The transcript of a session: every exchange as one line of JSON, in order, without the key.

A line has: number, at (seconds since the epoch), seconds, waited, method, target, dialect, model, status, attempts
(status and wait of each), tokens (or null), end, request and response. `end` says how it ended:

    whole       answered to the end                cut       the endpoint broke the answer off
    left        the agent went away                refused   not let through
    limit       refused by a limit                 down      no answer could be had

Of what was neither sent on nor answered by the harness itself the request's body is left out, and so are lines beyond
a thousand. A body that is no UTF-8 stands in `request_base64` or `response_base64` instead.

Invariant: bodies pass through a `Veil` before they are kept, and are kept on disk beyond `_IN_MEMORY` bytes; nothing
here holds a whole one in memory.
"""

from __future__ import annotations

import base64
import codecs
import json
import os
import re
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

CALLS = ".calls"  # suffix of the file beside a transcript that has a line for each call as it is let through
_IN_MEMORY = 1 << 18
_BLOCK = (1 << 16) // 3 * 3  # whole groups of base64


class Veil:
    """Puts stars for a secret, also for its base64, percent and JSON forms, in bytes that pass by in pieces.

    What is fed and what came out have the same length in the end; bytes that may be the beginning of the secret are
    held back until the next piece.
    """

    def __init__(self, secret: str) -> None:
        forms = sorted(_forms(secret), key=len, reverse=True) if secret else []
        self._forms = forms
        self._starts = {form[:size] for form in forms for size in range(1, len(form))}
        self._longest = max(map(len, forms), default=1) - 1
        self._held = b""

    def fresh(self) -> Veil:
        """One for another stream."""
        other = Veil("")
        other._forms, other._starts, other._longest = self._forms, self._starts, self._longest
        return other

    def feed(self, data: bytes) -> bytes:
        """What may pass now."""
        text = self._held + data
        for form in self._forms:
            text = text.replace(form, b"*" * len(form))
        held = next((n for n in range(min(self._longest, len(text)), 0, -1) if text[-n:] in self._starts), 0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def end(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return held

    def text(self, data: str) -> str:
        """A whole text at once."""
        veil = self.fresh()
        raw = data.encode("utf-8", "backslashreplace")
        return (veil.feed(raw) + veil.end()).decode("utf-8", "replace")


def _forms(secret: str) -> set[bytes]:
    raw = secret.encode()
    forms = {raw, raw.hex().encode(), raw.hex().upper().encode()}
    for quoted in (urllib.parse.quote(secret, safe=safe) for safe in ("", "/")):
        forms |= {quoted.encode(), re.sub("%..", lambda code: code[0].lower(), quoted).encode()}
    forms |= {json.dumps(secret)[1:-1].encode(), json.dumps(secret)[1:-1].replace("/", "\\/").encode()}
    for shift in range(3):  # where in a group of three bytes it may begin
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            whole = encode(b"\0" * shift + raw)
            first, last = -(-8 * shift // 6), 8 * (shift + len(raw)) // 6
            forms.add(whole[first:last])  # the characters that depend on nothing beside it
    return forms


class Body:
    """The bytes of one request or answer; in memory while they are few."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(folder))  # noqa: SIM115
        self.size = 0

    def add(self, data: bytes) -> None:
        """The next bytes."""
        self._file.write(data)
        self.size += len(data)

    def blocks(self) -> Iterator[bytes]:
        """All of it, from the beginning; nothing may be added meanwhile."""
        self._file.seek(0)
        while block := self._file.read(_BLOCK):
            yield block
        self._file.seek(0, os.SEEK_END)

    def clear(self) -> None:
        """Forget what was added."""
        self._file.seek(0)
        self._file.truncate()
        self.size = 0

    def close(self) -> None:
        """Drop it."""
        self._file.close()


class Transcript:
    """The file at `path` (made anew, readable for its owner alone). Lines are written in the order of their numbers.

    Raises OSError when the file cannot be made or written.
    """

    def __init__(self, path: Path, veil: Veil) -> None:
        self._veil = veil
        self._file = _made(path)
        self._calls = _made(path.with_suffix(CALLS))
        self._next, self._waiting = 1, dict[int, tuple[dict[str, Any], Body, Body] | None]()
        self.folder = path.parent

    def began(self, number: int, model: str) -> None:
        """A call is let through: told at once, so that it is known also if nobody lives to see its end."""
        line = json.dumps({"number": number, "model": self._veil.text(model)})
        self._calls.write(line.encode() + b"\n")
        self._calls.flush()

    def write(self, number: int, row: dict[str, Any], request: Body, response: Body) -> None:
        """The exchange `number` (1, 2, ...) is over. Takes the bodies."""
        self._waiting[number] = (row, request, response)
        self._flush()

    def skip(self, number: int) -> None:
        """There is no line for the exchange `number`."""
        self._waiting[number] = None
        self._flush()

    def close(self) -> None:
        """No more comes. What still waits for a number that never came is written as it is."""
        for number in sorted(self._waiting):
            if (found := self._waiting.pop(number)) is not None:
                self._write(*found)
        self._file.close()
        self._calls.close()

    def _flush(self) -> None:
        while self._next in self._waiting:
            if (found := self._waiting.pop(self._next)) is not None:
                self._write(*found)
            self._next += 1

    def _write(self, row: dict[str, Any], request: Body, response: Body) -> None:
        head = self._veil.text(json.dumps(row))
        self._file.write(head[:-1].encode())
        for name, body in (("request", request), ("response", response)):
            self._write_body(name, body)
            body.close()
        self._file.write(b"}\n")
        self._file.flush()

    def _write_body(self, name: str, body: Body) -> None:
        if not _is_text(body):
            self._file.write(f', "{name}_base64": "'.encode())
            for block in self._veiled(body):
                self._file.write(base64.b64encode(block))
        else:
            self._file.write(f', "{name}": "'.encode())
            decode = codecs.getincrementaldecoder("utf-8")()
            for block in self._veiled(body):
                self._file.write(json.dumps(decode.decode(block))[1:-1].encode())
        self._file.write(b'"')

    def _veiled(self, body: Body) -> Iterator[bytes]:
        """The body without the key, in whole groups of three bytes but for the last."""
        veil, rest = self._veil.fresh(), b""
        for block in body.blocks():
            rest += veil.feed(block)
            whole = len(rest) // 3 * 3
            yield rest[:whole]
            rest = rest[whole:]
        yield rest + veil.end()


def _made(path: Path) -> BinaryIO:
    """A new file for its owner alone."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def _is_text(body: Body) -> bool:
    decode = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in body.blocks():
            decode.decode(block)
        decode.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
