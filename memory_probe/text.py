"""Words, note numbers and scopes of plain texts: the one place where the probe turns text into comparable parts.

Invariant: pure functions over text and structure; nothing here knows what a fact, a task or a repository looks like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_SPACELESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts written without spaces: one character is a word
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+")
_SMALL = """
    a about after all also an and any are as at be been before but by can do does for from had has have if in into is
    it its may must no not of on one only or other our out over same shall should so such than that the their them
    then there these they this to was we were what when where which will with you your
"""
_STOP = frozenset(_SMALL.split())
_NUMBER = re.compile(r"(?<![\w-])[A-Z]{1,6}-\d{2,9}(?![\w-])")
_QUOTED = re.compile(r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”")
_PATH = re.compile(r"(?<![\w./-])((?:[\w.-]+/)+[\w.-]*\w)")
_CHANGED = re.compile(r"^(?:\+\+\+ b/|rename to |deleted file: )(.+?)\s*$", re.M)


def words(text: str) -> frozenset[str]:
    """Content words: lower case, letters and digits of any script, stop words out, a final plural s folded."""
    found = set(_WORD.findall(text.lower())) - _STOP
    return frozenset(w[:-1] if w[-1] == "s" and len(w) > 3 and w[-2] != "s" else w for w in found)


def numbers(text: str) -> tuple[str, ...]:
    """Note numbers such as AB-1234 in the order of the text; the first is usually the note's own."""
    return tuple(m.group() for m in _NUMBER.finditer(text))


def quoted(text: str) -> tuple[str, ...]:
    """Spans in back-ticks or double quotes, in order."""
    return tuple(next(g for g in m.groups() if g) for m in _QUOTED.finditer(text))


def paths(text: str) -> tuple[str, ...]:
    """What looks like a relative path with at least one folder."""
    return tuple(dict.fromkeys(_PATH.findall(text)))


def changed_files(delta: str) -> tuple[str, ...]:
    """The paths that a unified diff adds to or changes, in order."""
    return tuple(dict.fromkeys(p for p in _CHANGED.findall(delta) if p != "/dev/null"))


def stems(files: Iterable[str]) -> frozenset[str]:
    """The words of the last part of each path, without its suffix."""
    names = [f.rstrip("/*").rpartition("/")[2].partition(".")[0] for f in files]
    return words(" ".join(name.replace("_", " ") for name in names))


def is_pattern(path: str) -> bool:
    """Does it name a folder or hold a wild card?"""
    return path.endswith("/") or any(c in path for c in "*?[")


def covers(pattern: str, path: str) -> bool:
    """Does a file, a folder (`src/`, `src/**`) or a wild card cover `path`?"""
    if pattern == path:
        return True
    folder = pattern[:-2] if pattern.endswith("/**") else pattern
    if folder.endswith("/"):
        return path.startswith(folder)
    return is_pattern(pattern) and fnmatchcase(path, pattern)


def same_file(one: str, other: str) -> bool:
    """Does either of two file scopes cover the other?"""
    return covers(one, other) or covers(other, one)


def same_symbol(one: str, other: str) -> bool:
    """Are two dotted names the same, or one inside the other (`Store` and `Store.find`)?"""
    return one == other or one.startswith(other + ".") or other.startswith(one + ".")


def enclosing(name: str) -> tuple[str, ...]:
    """The dotted names around a dotted name: `a.b.c` lies in `a` and `a.b`."""
    parts = name.split(".")
    return tuple(".".join(parts[:n]) for n in range(1, len(parts)))
