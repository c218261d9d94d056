"""Every request that a model server got, searchable for words that must not be there.

Invariant: an entry is made before the request is answered, so what was sent is on record however the answer ends.
"""

from __future__ import annotations

import base64
import json
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .script import Seen, Turn


@dataclass(frozen=True)
class Entry:
    """One request, and what became of it. `number` counts all requests from 1, `asked` those to a model.

    `status` is None while no status line has been sent; `fault` names the fault that was met; `aside` says that the
    agent offered no way to take the script's turn; `error` is what went wrong in the server or its script; `left` says
    that the client hung up before the end.
    """

    number: int
    asked: int | None
    time: float
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    seen: Seen | None = None
    turn: Turn | None = None
    status: int | None = None
    fault: str = ""
    aside: bool = False
    error: str = ""
    left: bool = False

    def header(self, name: str) -> str | None:
        """The first header of that name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def holds(self, sentinel: str) -> bool:
        """Whether path, headers or body hold a text: as it is, escaped for JSON or an address, or in base64."""
        head = "\n".join([self.target, *(f"{key}: {value}" for key, value in self.headers)])
        whole = head.encode("utf-8", "surrogateescape") + b"\n" + self.body
        spoken = whole + b"\n" + "\n".join(_strings(self.body)).encode("utf-8", "surrogatepass")
        return any(form in spoken for form in forms(sentinel))


class Log:
    """Entries in the order in which the requests came. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._problems: list[str] = []
        self._asked = 0

    def add(self, entry: Entry, model: bool) -> Entry:
        """Keep a new entry, with its numbers."""
        with self._lock:
            self._asked += model
            asked = self._asked if model else None
            entry = replace(entry, number=len(self._entries) + 1, asked=asked)
            self._entries.append(entry)
            return entry

    def note(self, number: int, **changes: object) -> None:
        """Add to an entry what became of its request."""
        with self._lock:
            self._entries[number - 1] = replace(self._entries[number - 1], **changes)  # type: ignore[arg-type]

    def problem(self, text: str) -> None:
        """Keep what went wrong outside of any request."""
        with self._lock:
            self._problems.append(text)

    def entries(self) -> tuple[Entry, ...]:
        """All so far."""
        with self._lock:
            return tuple(self._entries)

    def asked(self) -> tuple[Entry, ...]:
        """Those that asked a model."""
        return tuple(entry for entry in self.entries() if entry.asked is not None)

    def holding(self, sentinel: str) -> tuple[Entry, ...]:
        """Those that hold a text in any of its forms."""
        return tuple(entry for entry in self.entries() if entry.holds(sentinel))

    def asides(self) -> tuple[Entry, ...]:
        """Those whose agent offered no way to take the script's turn."""
        return tuple(entry for entry in self.entries() if entry.aside)

    def errors(self) -> tuple[str, ...]:
        """What went wrong in the server or its script."""
        found = [f"request {entry.number}: {entry.error}" for entry in self.entries() if entry.error]
        with self._lock:
            return (*found, *self._problems)


def forms(text: str) -> Iterator[bytes]:
    """The forms in which a text may be hidden in a request. Raises ValueError for a text too short to look for."""
    data = text.encode()
    if len(data) < 4:
        raise ValueError(f"{text!r} is too short to be a sentinel")
    yield data
    yield json.dumps(text)[1:-1].encode()
    yield urllib.parse.quote(text, safe="").encode()
    for shift in range(3):  # only the characters that do not depend on what stands before and after
        coded = base64.b64encode(b"\0" * shift + data)[-(-shift * 8 // 6) :].rstrip(b"=")
        whole = coded[: (len(data) * 8 - (-shift * 8) % 6) // 6]
        if len(whole) >= 5:
            yield whole
            yield whole.translate(bytes.maketrans(b"+/", b"-_"))


def _strings(body: bytes) -> Iterator[str]:
    """Every text in a JSON body, keys too."""
    try:
        todo = [json.loads(body)]
    except ValueError:
        return
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            todo += [*value, *value.values()]
        elif isinstance(value, list):
            todo += value
