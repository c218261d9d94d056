"""FILES: notes that the agent keeps itself, in one directory that is carried from session to session.

Nothing is recorded here and nothing is read: the harness puts the directory into a session at /memory and takes it
back afterwards; the agent's own memory, switched to that directory, does the rest. What a session's world tells
later reaches it in a further turn (see `DEBRIEF`), because no directory can be told anything.

Invariant: `directory` is exactly what the last session left, path by path and byte by byte.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memory_probe.protocol import (
    Budget,
    Card,
    Episode,
    Note,
    Query,
    Receipt,
    SleepReport,
    StoredRecord,
    Unlisted,
    View,
)

CARD = Card("FILES", "notes that the agent keeps itself, in a directory that is carried", "1")

#: The further turn after a session: the same bytes for every trap. What was said since stands below it.
DEBRIEF = (
    "The work on this task is finished; do not change the repository. Since then the people you work with said what "
    "follows below. You will work on this repository again, and you will then remember nothing of today but what is "
    "in your memory. Put into it what you will need, in the way in which you keep such things."
)


class FilesMemory:
    """A directory under `namespace`."""

    card = CARD

    def __init__(self, namespace: Path) -> None:
        self._root = namespace / "files"
        self._root.mkdir(parents=True, exist_ok=True)

    @property
    def directory(self) -> dict[str, bytes]:
        """Its files: relative path -> bytes."""
        files = (path for path in sorted(self._root.rglob("*")) if path.is_file())
        return {path.relative_to(self._root).as_posix(): path.read_bytes() for path in files}

    def replace(self, files: Mapping[str, bytes]) -> None:
        """What a session left. Raises ValueError for a path that leads out of the directory."""
        for path in sorted(self._root.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        for name, data in files.items():
            parts = Path(name).parts
            if not parts or Path(name).is_absolute() or ".." in parts:
                raise ValueError(f"{name!r} leads out of the directory")
            path = self._root.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def record(self, episode: Episode) -> list[Receipt]:
        """Nothing: the agent was told what there is to tell."""
        return []

    def settle(self, timeout: float) -> None:
        """There is nothing to wait for."""

    def sleep(self, now: dt.date) -> SleepReport:
        """Nothing is done while nobody works."""
        return SleepReport()

    def read(self, query: Query, budget: Budget) -> View:
        """Nothing: the directory is there to be looked at."""
        return View()

    def records(self, include_inactive: bool) -> Iterator[StoredRecord] | Unlisted:
        """Each file; nobody says in which state what stands in it is."""
        return (StoredRecord(data.decode("utf-8", "backslashreplace")) for data in self.directory.values())

    def freeze(self) -> Mapping[str, bytes]:
        """The directory."""
        return {f"files/{name}": data for name, data in self.directory.items()}

    def close(self) -> None:
        """Nothing is held."""


def debrief(notes: Sequence[Note]) -> str:
    """The prompt of the further turn: what was said since, as it was said."""
    return DEBRIEF + "".join(f"\n\n---\n{note.text}" for note in notes) + "\n"
