"""A store in one file: JSON lines, appended only, each sealed with the one before it.

Invariant: what was appended is read back byte for byte, or reading raises MemoryFault; a changed byte, a missing or a
torn line is never read over. (Lines cut off cleanly at the end cannot be told from lines never written.)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from memory_probe.protocol import MemoryFault

T = TypeVar("T")
Row = Mapping[str, object]
_START = "0" * 16


class Lines:
    """The rows of one file of a namespace, oldest first. The file appears with the first row."""

    def __init__(self, namespace: Path, name: str) -> None:
        namespace.mkdir(parents=True, exist_ok=True)
        self.name, self._path = name, namespace / name
        self._end: tuple[int, str, str] | None = None  # (size, last seal, last body) when we last saw the file whole

    def append(self, rows: Sequence[Row]) -> None:
        """Append in one write, and look at what is there only if another wrote since.

        Raises MemoryFault for a store that is seen to be damaged; other damage is found by the next reading.
        """
        _, seal, body = self._seen()
        lines = []
        for row in rows:
            body = json.dumps(row, ensure_ascii=True, sort_keys=True)
            seal = _seal(seal, body)
            lines.append(f"{seal} {body}\n")
        if lines:
            self._end = None  # until the write is through
            with self._path.open("a", encoding="ascii", newline="\n") as file:
                file.write("".join(lines))
                file.flush()
                self._end = (file.tell(), seal, body)

    def last(self, decode: Callable[[Row], T]) -> T | None:
        """The last row, decoded; what is there is looked at as by `append`. Raises MemoryFault."""
        size, _, body = self._seen()
        return self._decoded(body, decode, "the last line") if size else None

    def load(self, decode: Callable[[Row], T]) -> list[T]:
        """Every row, decoded. Raises MemoryFault naming the line for a damaged store or a row of another shape."""
        return [self._decoded(body, decode, f"line {number}") for number, body in enumerate(self._walk(), 1)]

    def freeze(self) -> Mapping[str, bytes]:
        """The file as it is; nothing before the first row. Raises MemoryFault for a damaged store."""
        self._walk()
        return {self.name: self._path.read_bytes()} if self._path.exists() else {}

    def _seen(self) -> tuple[int, str, str]:
        """Where the file ends: as we left it, if nobody wrote since; else every seal is checked."""
        if self._end is None or self._end[0] != self._size():
            self._walk()
        assert self._end is not None
        return self._end

    def _decoded(self, body: str, decode: Callable[[Row], T], where: str) -> T:
        try:
            return decode(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._fault(where, f"{type(error).__name__}: {error}") from error

    def _walk(self) -> list[str]:
        """The bodies, every seal checked; then the end of the file is known."""
        self._end = None
        seal, bodies = _START, []
        data = self._path.read_bytes() if self._path.exists() else b""
        pieces = data.split(b"\n")
        for number, piece in enumerate(pieces[:-1], 1):
            given, _, body = piece.decode("ascii", "replace").partition(" ")
            seal = _seal(seal, body)
            if given != seal:
                raise self._fault(f"line {number}", "the line is not the one that was written here")
            bodies.append(body)
        if pieces[-1]:
            raise self._fault(f"line {len(pieces)}", "the line has no end")
        self._end = (len(data), seal, bodies[-1] if bodies else "")
        return bodies

    def _size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    def _fault(self, where: str, what: str) -> MemoryFault:
        return MemoryFault(f"store corrupt: {self.name} {where}: {what}")


def _seal(before: str, body: str) -> str:
    return hashlib.sha256(f"{before} {body}".encode()).hexdigest()[:16]
