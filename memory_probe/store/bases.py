"""Views of store files that were frozen before: many arms open copies of one file, and its bytes say all of it.

Invariant: a view is handed out only for a file with the very bytes that it was kept for, and as a fork, so what one
opener writes no other sees. What was forgotten is read from the file again; nothing depends on what is held here.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from memory_probe.store.view import StoreView

#: Each transaction of the probe moves at least one of these.
_MARK = """
    SELECT (SELECT value FROM meta WHERE name = 'head'), (SELECT value FROM meta WHERE name = 'slept'),
    (SELECT max(id) FROM memory), (SELECT max(n) FROM lifecycle), (SELECT max(n) FROM link)
"""
Mark = tuple[object, ...]


@dataclass(frozen=True)
class Base:
    """A view as of `mark`. Only `fork` it: the view is shared."""

    view: StoreView
    mark: Mark


class Bases:
    """The bases used last, by digest, up to `most` memories in all. For use by many threads."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._held: OrderedDict[str, Base] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, data: bytes, view: StoreView, mark: Mark) -> None:
        """Remember what a file of these bytes says. The view may grow on; a fork of it is kept."""
        base = Base(view.fork(), mark)
        with self._lock:
            self._held[hashlib.sha256(data).hexdigest()] = base
            while len(self._held) > 1 and sum(len(b.view) for b in self._held.values()) > self._most:
                self._held.popitem(last=False)

    def find(self, path: Path) -> Base | None:
        """What is known of a file with these bytes. A file that may be open elsewhere is not looked at: closing it
        here would let go of the locks that this process holds on it."""
        if not self._held or not path.is_file() or _in_use(path):
            return None
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with self._lock:
            base = self._held.get(digest)
            if base is not None:
                self._held.move_to_end(digest)
        return base


def mark(connection: sqlite3.Connection) -> Mark:
    """Where a store is: equal marks of one store mean that nothing was written between."""
    found: Mark = connection.execute(_MARK).fetchone()
    return found


def _in_use(path: Path) -> bool:
    return any(path.with_name(path.name + end).exists() for end in ("-wal", "-shm", "-journal"))
