"""The memories of a store as columns of numbers, so that ten thousand are gated and scored in a few milliseconds.

Invariant: row i describes memory id i + 1 and nothing else; equal scopes, tasks and tags share one entry, which is
compared with a question once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from memory_probe import text
from memory_probe.protocol import count_tokens
from memory_probe.store.index import FileScopes, Shared, SymbolScopes, WordSets
from memory_probe.store.model import STATUSES, TYPES, Memory, Standing

Array = npt.NDArray[Any]
FOREVER = 4_000_000  # an ordinal after the last day of the calendar
_FLOATS = ("confidence", "utility", "risk", "staleness")
_INTS = ("status", "type", "repository", "files", "symbols", "task", "tags", "tokens", "until", "updated")
_MORE_INTS = ("told", "populated", "verified")


class Columns:
    """Grows by `append`; `set` rewrites the parts that a standing may change."""

    def __init__(self) -> None:
        self.size = 0
        self._numbers = {name: np.zeros(64, np.float64) for name in _FLOATS}
        self._numbers |= {name: np.zeros(64, np.int64) for name in (*_INTS, *_MORE_INTS)}
        self.repositories: Shared[str] = Shared()
        self.files, self.symbols = FileScopes(), SymbolScopes()
        self.tasks, self.tags = WordSets(), WordSets()
        self.words = WordSets(shared=False)

    def fork(self) -> Columns:
        """The same columns, growing apart."""
        fork = Columns()
        fork.size = self.size
        fork._numbers = {name: column.copy() for name, column in self._numbers.items()}
        fork.repositories, fork.files, fork.symbols = self.repositories.fork(), self.files.fork(), self.symbols.fork()
        fork.tasks, fork.tags, fork.words = self.tasks.fork(), self.tags.fork(), self.words.fork()
        return fork

    def __getitem__(self, name: str) -> Array:
        return self._numbers[name][: self.size]

    def append(self, memory: Memory, standing: Standing, tags: frozenset[str]) -> None:
        """Add the next memory."""
        row, scope = self.size, memory.scope
        if row == len(self._numbers["status"]):
            self._numbers = {n: np.concatenate((a, np.zeros_like(a))) for n, a in self._numbers.items()}
        column = self._numbers
        self.words.add(text.words(memory.content))
        column["type"][row] = TYPES.index(memory.type)
        column["repository"][row] = self.repositories.add(memory.repository)
        column["files"][row] = self.files.add(scope.files)
        column["symbols"][row] = self.symbols.add(scope.symbols)
        column["task"][row] = self.tasks.add(text.words(scope.task))
        column["tags"][row] = self.tags.add(tags)
        column["tokens"][row] = count_tokens(memory.content)
        column["told"][row] = memory.valid_from.toordinal()
        column["populated"][row] = memory.provenance.populated
        column["verified"][row] = memory.human_verified
        self.size = row + 1
        self.set(row, standing)

    def set(self, row: int, standing: Standing) -> None:
        """Take over what a standing says."""
        for name in _FLOATS:
            self._numbers[name][row] = getattr(standing, name)
        self._numbers["status"][row] = STATUSES.index(standing.status)
        self._numbers["until"][row] = standing.valid_until.toordinal() if standing.valid_until else FOREVER
        self._numbers["updated"][row] = standing.updated.toordinal()
