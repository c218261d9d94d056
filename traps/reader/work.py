"""Edits on the tree that a playbook may make; each is logged as one step of the transcript.

Invariant: an edit that does not fit exactly (anchor missing or ambiguous) raises instead of guessing.
"""

from __future__ import annotations

import subprocess
from pathlib import Path


class Misfit(Exception):
    """The tree does not look as the edit expects."""


class Work:
    """The working tree below `root`; text is UTF-8 and line ends are kept."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.log: list[dict[str, object]] = []

    def exists(self, path: str) -> bool:
        return (self._root / path).is_file()

    def read(self, path: str) -> str:
        return (self._root / path).read_bytes().decode("utf-8")

    def write(self, path: str, text: str) -> None:
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))
        self.log.append({"write": path, "bytes": len(text.encode("utf-8"))})

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        if text.count(old) != 1:
            raise Misfit(f"{path}: expected the text once, found it {text.count(old)} times: {old[:60]!r}")
        self.write(path, text.replace(old, new))

    def insert_after(self, path: str, anchor: str, text: str) -> None:
        self.replace(path, anchor, anchor + text)

    def append(self, path: str, text: str) -> None:
        self.write(path, self.read(path) + text)

    def remove(self, path: str) -> None:
        (self._root / path).unlink()
        self.log.append({"remove": path})

    def run(self, command: list[str]) -> tuple[int, str]:
        """(exit status, stdout and stderr together) of a command in the tree."""
        done = subprocess.run(
            command,
            cwd=self._root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.log.append({"run": command, "exit": done.returncode})
        return done.returncode, done.stdout.decode("utf-8", "replace")
