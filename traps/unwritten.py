"""What an author still has to write: the marks `[write: what goes here]` that a scaffold leaves in every file.

Invariant: a mark is found wherever it stands, in prompts, events, comments, programs and stored solutions, and a trap
that has one is not admissible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MARK = re.compile(r"\[write: ([^\]]*)\]")
_ORDER = (r"trap\.toml", r"s1\.md", r"s1/", r"s2\.md", r"s2/", r"s3\.md", r"s3/", r"e\d+\.md", r"p\d+\.md",
          r"playbook\.py", r"oracle\.py", r"expect\.toml", r"solutions/reference")  # fmt: skip


@dataclass(frozen=True)
class Left:
    """A mark: the file below its folder, the line in it (from 1), what has to be written."""

    path: str
    line: int
    text: str

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"


def left_in(folder: Path) -> Iterator[Left]:
    """Every mark below a trap or oracle folder, in the order in which the files are best written."""
    files = (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink() and "__pycache__" not in p.parts)
    for path in sorted((p.relative_to(folder).as_posix() for p in files), key=_place):
        text = (folder / path).read_bytes().decode("utf-8", "replace")
        for mark in _MARK.finditer(text):
            yield Left(path, text.count("\n", 0, mark.start()) + 1, " ".join(mark[1].split()))


def _place(path: str) -> tuple[int, int, str]:
    rank = next((n for n, head in enumerate(_ORDER) if re.match(head, path)), len(_ORDER))
    number = re.match(r"[ep](\d+)", path)
    return rank, int(number[1]) if number else 0, path
