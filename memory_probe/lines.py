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

    def append(self, rows: Sequence[Row]) -> None:
        """Append in one write. Raises MemoryFault for a store that is damaged already."""
        seal = self._walk()[1]
        lines = []
        for row in rows:
            body = json.dumps(row, ensure_ascii=True, sort_keys=True)
            seal = _seal(seal, body)
            lines.append(f"{seal} {body}\n")
        if lines:
            with self._path.open("a", encoding="ascii", newline="\n") as file:
                file.write("".join(lines))

    def load(self, decode: Callable[[Row], T]) -> list[T]:
        """Every row, decoded. Raises MemoryFault naming the line for a damaged store or a row of another shape."""
        found = []
        for number, body in enumerate(self._walk()[0], 1):
            try:
                found.append(decode(json.loads(body)))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise self._fault(number, f"{type(error).__name__}: {error}") from error
        return found

    def freeze(self) -> Mapping[str, bytes]:
        """The file as it is; nothing before the first row. Raises MemoryFault for a damaged store."""
        self._walk()
        return {self.name: self._path.read_bytes()} if self._path.exists() else {}

    def _walk(self) -> tuple[list[str], str]:
        """(bodies, last seal), every seal checked."""
        seal, bodies = _START, []
        data = self._path.read_bytes() if self._path.exists() else b""
        pieces = data.split(b"\n")
        for number, piece in enumerate(pieces[:-1], 1):
            given, _, body = piece.decode("ascii", "replace").partition(" ")
            seal = _seal(seal, body)
            if given != seal:
                raise self._fault(number, "the line is not the one that was written here")
            bodies.append(body)
        if pieces[-1]:
            raise self._fault(len(pieces), "the line has no end")
        return bodies, seal

    def _fault(self, number: int, what: str) -> MemoryFault:
        return MemoryFault(f"store corrupt: {self.name} line {number}: {what}")


def _seal(before: str, body: str) -> str:
    return hashlib.sha256(f"{before} {body}".encode()).hexdigest()[:16]
