"""Do a deterministic piece of work once: the same key from several threads waits for the first.

Invariant: a result is shared only under a key that names everything it depends on; a failure is never kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Results by key. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[Hashable, T] = {}
        self._locks: dict[Hashable, threading.Lock] = {}
        self._guard = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> tuple[T, bool]:
        """(result, whether it had been made before). Raises what `make` raises; the next caller tries again."""
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key in self._known:
                return self._known[key], True
            made = make()
            self._known[key] = made
            return made, False
