"""Which files of a tree a task is about, by its words alone.

Invariant: the same words and the same tree give the same files in the same order; nothing of the tree is executed,
and no link is followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

MOST_BY_NAME = 6  # files that are found by their names or by what they define
_SKIPPED = {".git", "__pycache__"}
_LARGEST = 1 << 20  # bytes of a file that is searched for definitions
_TOKEN = re.compile(r"[^\s`'\"()<>\[\]{},;|*=]+")
_QUOTED = re.compile(r"`([^`\n]+)`")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([\w, \t]+)|import[ \t]+([\w., \t]+))", re.M)
_NEW = re.compile(r"(?:[\w.-]+/)+[\w-]+\.\w+")
_NAME = re.compile(r"[^\W\d]\w*")
_DEFINES = r"^[ \t]*(?:(?:export|public|static|async|pub)[ \t]+)*(?:def|class|func|function|fn|struct|interface|type)"


def task_of(prompt: str, heading: str) -> str:
    """The prompt up to the line `heading`, below which notes stand; all of it where there is none (or no heading)."""
    lines = prompt.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if heading and line.rstrip() == heading:
            return "".join(lines[:at])
    return prompt


def tree_files(root: Path) -> tuple[str, ...]:
    """Sorted paths of the regular files of a tree: none of its repository or of caches, none that cannot be printed."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED and name.isprintable()]
        for name in files:
            path = Path(folder, name)
            if name.isprintable() and not path.is_symlink() and path.is_file():
                found.append(path.relative_to(root).as_posix())
    return tuple(sorted(found))


def named_files(task: str, root: Path) -> tuple[str, ...]:
    """Files of the tree that the task names, sources before tests, each in the order in which they come first.

    Behind the named sources come those that the named tests import. Where no path of a source stands in the task, the
    sources are those whose names stand there, else those that define a quoted name.
    """
    files = tree_files(root)
    paths = _by_path(task, files)
    tests = [path for path in paths if is_test(path)]
    sources = [path for path in paths if not is_test(path)]
    rest = [path for path in files if not is_test(path)]
    if not sources:
        sources = _by_name(task, rest) or _by_symbol(task, rest, root)
    texts = (read_text(root / path, _LARGEST) or "" for path in tests)
    imported = _by_name(" ".join(_modules("\n".join(texts))), rest)
    return tuple(_unique([*sources, *imported, *tests]))


def new_files(task: str, root: Path) -> tuple[str, ...]:
    """Paths in the task of files that are not there yet, below folders that are, in the order of the task."""
    found = (_path(token) for token in _TOKEN.findall(task))
    return tuple(_unique(path for path in found if _NEW.fullmatch(path) and _is_new(root, path)))


def _is_new(root: Path, path: str) -> bool:
    parts = path.split("/")
    return ".." not in parts and parts[0] not in _SKIPPED and (root / parts[0]).is_dir() and not (root / path).exists()


def is_test(path: str) -> bool:
    """Whether a file is a test, by where it is."""
    parts = PurePosixPath(path).parts
    return any(part in ("tests", "test") for part in parts[:-1]) or parts[-1].startswith("test_")


def _by_path(task: str, files: Iterable[str]) -> list[str]:
    known = set(files)
    return _unique(path for token in _TOKEN.findall(task) if (path := _path(token)) in known)


def _path(token: str) -> str:
    """A word without what sentences put around a path: `./a.py:12.` is `a.py`."""
    token = re.sub(r":\d+$", "", token.rstrip(".:!?"))
    return token.removeprefix("./")


def _by_name(task: str, files: Iterable[str]) -> list[str]:
    """By file names (`rules.py`) and names of modules with dots (`pack.rules`)."""
    by_end: dict[str, list[str]] = {}
    for path in files:
        pure = PurePosixPath(path)
        by_end.setdefault(pure.name, []).append(path)
        parts = pure.parts[:-1] if pure.name == "__init__.py" else (*pure.parts[:-1], pure.stem)
        if pure.suffix == ".py":
            for start in range(len(parts) - 1):
                by_end.setdefault(".".join(parts[start:]), []).append(path)
    found = (path for token in _TOKEN.findall(task) for path in by_end.get(_path(token), ()))
    return _unique(found)[:MOST_BY_NAME]


def _modules(text: str) -> Iterator[str]:
    """What a text in Python imports, by names with dots."""
    for found in _IMPORT.finditer(text):
        names = re.findall(r"[\w.]+", found[2] or found[3] or "")
        yield from (f"{found[1]}.{name}" for name in names if found[1])
        yield from (name for name in [found[1], *([] if found[1] else names)] if name and "." in name)


def _by_symbol(task: str, files: Iterable[str], root: Path) -> list[str]:
    names = _unique(name for quoted in _QUOTED.findall(task) for name in _NAME.findall(quoted))
    texts = {path: text for path in files if (text := read_text(root / path, _LARGEST)) is not None}
    found = []
    for name in names:
        defines = re.compile(rf"{_DEFINES}[ \t]+{re.escape(name)}\b", re.M)
        found += [path for path, text in texts.items() if defines.search(text)]
    return _unique(found)[:MOST_BY_NAME]


def read_text(path: Path, most: int) -> str | None:
    """The text of a file; None when it is no UTF-8 text, holds a NUL, or has more than `most` bytes."""
    if path.stat().st_size > most:
        return None
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
