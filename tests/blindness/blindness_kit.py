"""The stage of the blindness tests: a trap whose every name is a sentinel, a recorder, and the search.

Invariant: the search is told what to look for, never where; the same search finds a sentinel that is planted
(`test_scan_can_fail`), so silence means absence.
"""

from __future__ import annotations

import base64
import functools
import io
import json
import re
import secrets
import string
import tarfile
import threading
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from containers.sandbox import Channel, Result, Sandbox, Spec

INSIDE = Path(__file__).parent / "inside"
MINI = Path(__file__).parents[1] / "data" / "mini"
_SPOKEN = re.compile(rb"SEEN<([A-Za-z0-9+/=]*)>")
#: Words that tell what is going on. Compared with an empty sandbox, which has some of them for reasons of its own.
WORDS = ("dreambench", "benchmark", "oracle", "trap", "construct", "constructs", "distractor", "poison", "playbooks")
_CODE = re.compile(rb"(?<![\w.-])C(?:10|[1-9])(?![\w.-])")

Pieces = Mapping[str, bytes]


def sentinel() -> str:
    """Sixteen random lower-case letters: a word that occurs nowhere by chance."""
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(16))


# -- the search ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Needle:
    """Something that must not be seen, in either case: what it is, its bytes, and what must not stand around it."""

    what: str
    value: bytes
    before: bytes = b""  # characters (of a class) that make it a part of something else
    after: bytes = b""

    def at(self, folded: bytes) -> int | None:
        """Where it first stands in lower-case bytes."""
        value = self.value.lower()
        start = folded.find(value)
        while start >= 0:
            left, right = folded[max(0, start - 1) : start], folded[start + len(value) : start + len(value) + 1]
            if not (left and left in self.before) and not (right and right in self.after):
                return start
            start = folded.find(value, start + 1)
        return None


NAME = (string.ascii_lowercase + string.digits + "_.-").encode()


def word(what: str, value: str) -> Needle:
    """A value wherever it stands."""
    return Needle(what, value.encode())


def path(what: str, value: str) -> Needle:
    """A host path, not as the tail or the beginning of a longer name; `value` is absolute."""
    return Needle(what, value.encode(), NAME, NAME)


def name(what: str, value: str) -> Needle:
    """A name that is a whole word."""
    return Needle(what, value.encode(), NAME.replace(b".", b""), NAME.replace(b".", b""))


def search(pieces: Pieces, needles: Iterable[Needle]) -> list[str]:
    """One line for each needle found in a piece, with what stands around it."""
    wanted, found = list(needles), []
    for label, data in pieces.items():
        folded = label.encode("utf-8", "surrogateescape").lower() + b"\n" + data.lower()
        for needle in wanted:
            if (at := needle.at(folded)) is not None:
                found.append(f"{needle.what} in {label}: {folded[max(0, at - 40) : at + len(needle.value) + 40]!r}")
    return found


def speaking(pieces: Pieces, neutral: Pieces) -> list[str]:
    """Lines for words that tell what is going on, unless the same piece of an empty sandbox says them too.

    Memory of other processes is left out: an interpreter holds words of its own library.
    """
    known = {_plain(label): _said(data) for label, data in neutral.items()}
    return [
        f"{told} in {label}"
        for label, data in pieces.items()
        if not label.endswith(" memory")
        for told in sorted((_said(label.encode()) | _said(data)) - known.get(_plain(label), frozenset()))
    ]


@functools.cache
def _said(data: bytes) -> frozenset[str]:
    folded = data.lower()
    found = {needle.what for needle in _TELLING if needle.at(folded) is not None}
    if b"\0\0\0" not in data[:8000]:  # two letters stand in binary data by chance
        found |= {m.group().decode() for m in _CODE.finditer(data)}
    return frozenset(found)


_TELLING = [name(w, w) for w in WORDS]


def _plain(label: str) -> str:
    return re.sub(r"\b\d+\b", "N", label)


# -- what was seen -------------------------------------------------------------------------------------------


def unpacked(data: bytes) -> dict[str, bytes]:
    """What `inside/seen.py` packed."""
    return {label: text.encode("latin-1") for label, text in json.loads(zlib.decompress(data)).items()}


def heard(stream: bytes) -> list[dict[str, bytes]]:
    """The pieces that a program answered over a channel."""
    return [unpacked(base64.b64decode(found)) for found in _SPOKEN.findall(stream)]


# -- the recorder --------------------------------------------------------------------------------------------


@dataclass
class Talk:
    """A conversation: what was started, and everything that went in and came out."""

    spec: Spec
    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)


class Recorder:
    """A real sandbox whose every Spec and conversation is kept."""

    def __init__(self, inner: Sandbox) -> None:
        self.inner, self.name = inner, inner.name
        self.runs: list[Spec] = []
        self.talks: list[Talk] = []
        self._lock = threading.Lock()

    @property
    def python(self) -> str:
        return self.inner.python

    def describe(self) -> Mapping[str, str]:
        return self.inner.describe()

    def run(self, spec: Spec) -> Result:
        with self._lock:
            self.runs.append(spec)
        return self.inner.run(spec)

    def talk(self, spec: Spec) -> Channel:
        talk = Talk(spec)
        with self._lock:
            self.talks.append(talk)
        return _Tapped(self.inner.talk(spec), talk)

    def close(self) -> None:
        self.inner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Tapped:
    def __init__(self, inner: Channel, talk: Talk) -> None:
        self._inner, self._talk = inner, talk

    def send(self, data: bytes) -> None:
        self._talk.sent += data
        self._inner.send(data)

    def receive(self, size: int, timeout: float) -> bytes:
        data = self._inner.receive(size, timeout)
        self._talk.received += data
        return data

    def close(self) -> Result:
        return self._inner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def pieces_of(spec: Spec) -> dict[str, bytes]:
    """Everything that a Spec puts into a sandbox: words, environment, input, and each file of each mount."""
    found = {
        "command": "\0".join(spec.command).encode(),
        "environment": "\0".join(f"{k}={v}" for k, v in spec.env.items()).encode(),
        "stdin": spec.stdin,
        "cwd": spec.cwd.encode(),
    }
    for place, mount in spec.mounts.items():
        files, headers = _read(mount.tar)
        found |= {f"{place}/{name}": data for name, data in files.items()}
        found[f"{place} headers"] = headers
    return found


@functools.cache
def _read(stream: bytes) -> tuple[dict[str, bytes], bytes]:
    """Files of a tar stream, and its headers, which hold owners, group names and times besides names."""
    files: dict[str, bytes] = {}
    lines = []
    if stream:
        with tarfile.open(fileobj=io.BytesIO(stream), mode="r:") as tar:
            for member in tar:
                body = tar.extractfile(member) if member.isreg() else None
                files[member.name] = body.read() if body else b""
                lines.append(f"{member.name} {member.linkname} {member.uname} {member.gname} {member.mtime}")
                lines.append(str(member.pax_headers))
    return files, "\n".join(lines).encode("utf-8", "surrogateescape")
