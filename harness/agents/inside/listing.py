"""Whole files in plain text: how they are shown to a model, and how they are read from its answer.

A file is its path on a line, then its text between two fences. A fence is three or more backticks (or tildes) on a
line; what opens may name a language, what closes is at least as long and stands alone.

Invariant: an answer is taken whole or not at all, and no path that is read from one leaves the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")
_RUN = re.compile(r"^\s*(`{3,})", re.M)
_MARKS = re.compile(r"(?:[#>*+\-\s]|\d+[.)]\s)*(?:(?:file|filename|file name|path)(?:\s*:|\s)\s*)?", re.I)
_PLAIN = re.compile(r"[\w./+@\-]+")
_TICKED = re.compile(r"`([^`\s]+)`")
_DEEPEST = 3  # columns before a fence
_LONGEST_PART = 200  # bytes of one name in a path
_NO_FILE = ("bash", "sh", "shell", "console", "diff")  # blocks in these languages are not files unless they are named


class Unusable(Exception):
    """Why an answer cannot be taken, in one line."""


@dataclass(frozen=True)
class _Block:
    path: str  # "" = none is named
    language: str
    text: str


def fence_for(texts: Iterable[str]) -> str:
    """A fence that is longer than any at the start of a line of the texts."""
    longest = max((len(run) for text in texts for run in _RUN.findall(text)), default=2)
    return "`" * (longest + 1)


def show(path: str, text: str, fence: str) -> str:
    """A file as it is shown and wanted back."""
    body = text if not text or text.endswith("\n") else text + "\n"
    return f"{path}\n{fence}\n{body}{fence}\n"


def read(answer: str, shown: Sequence[str]) -> Mapping[str, str]:
    """Path -> text of the files of an answer, in its order.

    A block without a path stands for the file that was shown, if that was one only and no other block has a path; else
    it is talk. Where a path comes twice the later text holds. Raises Unusable.
    """
    blocks = _blocks(answer, shown)
    named = {_checked(block.path): block.text for block in blocks if block.path}
    nameless = [block for block in blocks if not block.path and block.language not in _NO_FILE]
    if not named and len(nameless) == 1 and len(shown) == 1:
        named = {shown[0]: nameless[0].text}
    if not named:
        raise Unusable("the answer holds no file" if answer.strip() else "the answer is empty")
    return named


def _blocks(answer: str, shown: Sequence[str]) -> list[_Block]:
    blocks: list[_Block] = []
    before, opened, info, body = "", "", "", list[str]()
    for line in answer.replace("\r\n", "\n").split("\n"):
        fence, rest = _fence(line)
        if opened and fence.startswith(opened) and not rest:
            path = _path_in_info(info) or _path_on(before, shown)
            blocks.append(_Block(path, info.partition(" ")[0].lower(), "".join(f"{one}\n" for one in body)))
            before, opened = "", ""
        elif opened:
            body.append(line)
        elif fence:
            opened, info, body = fence, rest, []
        elif line.strip():
            before = line
    if opened:
        raise Unusable("the answer ends in the middle of a file")
    return blocks


def _fence(line: str) -> tuple[str, str]:
    """The fence that a line is, and what stands behind it; ("", "") for any other line."""
    text = line.strip()
    found = _FENCE.fullmatch(text)
    if found is None or "`" in found[2] or len(line) - len(line.lstrip()) > _DEEPEST:
        return "", ""
    return found[1], found[2].strip()


def _path_in_info(info: str) -> str:
    """A path behind the opening fence, alone or behind the language: `python src/a.py`, `python:src/a.py`."""
    last = info.split()[-1].rpartition(":")[2] if info else ""
    return last if "/" in last or re.fullmatch(r"[\w\-]+\.\w+", last) else ""


def _path_on(line: str, shown: Sequence[str]) -> str:
    """The path that a line is or names: the one between backticks, or the one of a file that was shown."""
    if _PLAIN.fullmatch(line.strip()) and _like_path(line.strip()):
        return line.strip()
    ticked = [name for name in _TICKED.findall(line) if _like_path(name)]
    words = {word.strip("`*\"':,.()") for word in line.split()}
    for found in (ticked, [path for path in shown if path in words]):
        if len(found) == 1:
            return found[0]
    rest = _MARKS.sub("", line, count=1).strip("`*\"': \t")
    return rest if _like_path(rest) else ""


def _like_path(word: str) -> bool:
    return not re.search(r"\s", word) and ("/" in word or "." in word.strip("."))


def _checked(path: str) -> str:
    """The path in its one form. Raises Unusable for one that is not below the tree."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    told = path[:100].encode("ascii", "backslashreplace").decode()
    if path.startswith(("/", "~")) or ".." in parts or not parts:
        raise Unusable(f"the answer names a file outside of the tree: {told}")
    if any(part.lower() == ".git" for part in parts):
        raise Unusable(f"the answer names a file of the repository itself: {told}")
    if "\\" in path or not path.isprintable() or any(len(part.encode()) > _LONGEST_PART for part in parts):
        raise Unusable(f"the answer names a file that cannot be: {told}")
    return "/".join(parts)
