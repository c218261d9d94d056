"""The harness' side of the conversation with a docker sandbox: trees into frames, frames into a result.

Invariant: what comes from inside is hostile. Its size is bounded by `Limits` before it is kept, paths are checked
here once more, and a conversation that breaks off or breaks its rules ends in a Result that says so, never in a
shorter tree that looks whole.
"""

from __future__ import annotations

import io
import json
import os
import struct
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from containers.box import frames
from containers.export import Budget
from containers.sandbox import Limits, Mount, SandboxError, Spec

EPOCH = 1_735_689_600  # the one time of everything that enters
_LARGEST = frames.BLOCK + 2 * frames.MAX_PATH + 64  # payload that is believed
_STREAM = struct.Struct(">BxxxL")


class Corrupt(Exception):
    """What came from inside breaks the rules of the wire."""


def request(spec: Spec, writable: tuple[str, ...], env: Mapping[str, str], talk: bool) -> Iterator[bytes]:
    """All frames up to and with GO, and for a `run` also the standard input."""
    limits = spec.limits
    header = {
        "command": list(spec.command),
        "cwd": spec.cwd,
        "env": dict(env),
        "wall": limits.wall,
        "output": limits.output,
        "talk": talk,
        "mtime": EPOCH,
        "mounts": list(writable),
        "exports": list(spec.exports),
        "caps": {name: getattr(limits, name) for name in ("export_files", "export_file", "export_total")},
    }
    yield frames.pack(frames.HEADER, json.dumps(header).encode())
    for path in writable:
        if path in spec.mounts:
            yield frames.pack(frames.MOUNT, os.fsencode(path))
            yield from _tree(spec.mounts[path])
    yield frames.pack(frames.GO)
    if not talk:
        yield from stdin(spec.stdin)
        yield frames.pack(frames.STDIN_END)


def stdin(data: bytes) -> Iterator[bytes]:
    """Standard input as frames."""
    for start in range(0, len(data), frames.BLOCK):
        yield frames.pack(frames.STDIN, data[start : start + frames.BLOCK])


def volume_tar(mounts: Mapping[str, Mount]) -> bytes:
    """One tar with absolute places for all `mounts`, owned by root so that nobody inside can change it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for path, mount in mounts.items():
            for member, data in _members(mount):
                member.name = f"{path.strip('/')}/{member.name}"
                member.uid = member.gid = 0
                member.uname = member.gname = ""
                member.mtime = EPOCH
                member.pax_headers = {}
                tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _members(mount: Mount) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The checked members of a mount. Raises SandboxError: a mount is made by the harness."""
    if not mount.tar:
        return
    seen: set[str] = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(mount.tar), mode="r:") as archive:
            for member in archive:
                parts = [part for part in member.name.split("/") if part not in ("", ".")]
                if member.name.startswith("/") or ".." in parts or "\0" in member.name:
                    raise SandboxError("a mount has a member outside its tree")
                if not parts:
                    continue
                member.name = "/".join(parts)
                if member.name in seen and not member.isdir():
                    raise SandboxError("a mount has two members of one name")
                seen.add(member.name)
                yield _normal(member), _content(archive, member)
    except tarfile.TarError as error:
        raise SandboxError(f"a mount is not a tar stream: {error}") from error


def _normal(member: tarfile.TarInfo) -> tarfile.TarInfo:
    if not (member.isdir() or member.issym() or member.isreg()):
        raise SandboxError("a mount has a member that is neither file, directory nor symlink")
    member.mode = 0o755 if member.isdir() or member.mode & 0o111 else 0o644
    return member


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member) if member.isreg() else None
    return stream.read() if stream is not None else b""


def _tree(mount: Mount) -> Iterator[bytes]:
    for member, data in _members(mount):
        path = os.fsencode(member.name)
        if member.isdir():
            yield frames.pack(frames.DIR, path)
        elif member.issym():
            yield frames.pack_link(path, os.fsencode(member.linkname))
        else:
            yield frames.pack_file(path, member.mode)
            for start in range(0, len(data), frames.BLOCK):
                yield frames.pack(frames.CHUNK, data[start : start + frames.BLOCK])


class Demux:
    """The engine's attach stream (frames of stdout and stderr) to the bytes of process 1."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.stream = 0
        self.left = 0
        self.trouble = bytearray()  # stderr of process 1: a traceback if it broke

    def feed(self, chunk: bytes) -> bytes:
        """Raw bytes of the engine in, bytes of process 1's stdout out."""
        self.data += chunk
        out = bytearray()
        while self.data:
            if not self.left:
                if len(self.data) < _STREAM.size:
                    break
                self.stream, self.left = _STREAM.unpack_from(self.data)
                del self.data[: _STREAM.size]
                continue
            part = self.data[: self.left]
            del self.data[: self.left]
            self.left -= len(part)
            if self.stream == 1:
                out += part
            elif len(self.trouble) < frames.BLOCK:
                self.trouble += part
        return bytes(out)


@dataclass
class _Entry:
    kind: bytes
    mode: int = 0o755
    data: bytearray = field(default_factory=bytearray)
    target: bytes = b""


class Collector:
    """Frames of one sandbox to what a Result needs. `done` is true once everything arrived."""

    def __init__(self, limits: Limits, exports: tuple[str, ...]) -> None:
        self.limits = limits
        self.frames = frames.Frames(_LARGEST)
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.trees: dict[str, dict[bytes, _Entry]] = {path: {} for path in exports}
        self.budget = Budget.of(limits)
        self.started = False
        self.end: dict[str, Any] = {}
        self.done = False
        self.broken = ""
        self._tree: dict[bytes, _Entry] | None = None
        self._prefix = ""
        self._file: _Entry | None = None

    def feed(self, data: bytes) -> None:
        """Take bytes of process 1. Raises Corrupt."""
        self.frames.feed(data)
        try:
            while not self.done and (frame := self.frames.take()) is not None:
                self._frame(*frame)
        except (ValueError, TypeError, LookupError, RecursionError, struct.error) as error:
            raise Corrupt(str(error)) from error

    def exports(self) -> dict[str, bytes]:
        """path -> tar of each tree whose transfer began."""
        return {path: _tar(tree) for path, tree in self.trees.items()}

    def lost(self, why: str) -> None:
        """The conversation broke off: every tree is incomplete, and says so."""
        for path in self.trees:
            self.budget.drop(path, why, cap=True)

    def _frame(self, kind: bytes, payload: bytes) -> None:
        if kind == frames.STDOUT:
            self.stdout += payload
        elif kind == frames.STDERR:
            self.stderr += payload[: max(0, self.limits.output - len(self.stderr))]
        elif kind == frames.STARTED:
            self.started = True
        elif kind == frames.EXIT:
            self.end = _checked_end(json.loads(payload))
        elif kind == frames.TREE:
            self._prefix = os.fsdecode(payload)
            self._tree = self.trees[self._prefix]
        elif kind == frames.DROPPED:
            path, why, cap = json.loads(payload)
            self.budget.drop(f"{self._prefix}/{path}"[: frames.MAX_PATH * 4], str(why)[:200], bool(cap))
        elif kind == frames.BROKEN:
            self.broken = payload.decode("utf-8", "backslashreplace")[:200]
            self.done = True
        elif kind == frames.END:
            self.done = True
        else:
            self._entry(kind, payload)

    def _entry(self, kind: bytes, payload: bytes) -> None:
        if kind == frames.CHUNK and self._file is not None:
            self.budget.total -= len(payload)
            self._file.data += payload
            if self.budget.total < 0 or len(self._file.data) > self.limits.export_file:
                raise ValueError("more content than was announced")
        elif kind == frames.DIR:
            self._add(payload, _Entry(kind))
        elif kind == frames.FILE:
            mode, path = frames.split_number(payload)
            self._file = _Entry(kind, 0o755 if mode & 0o111 else 0o644)
            self._add(path, self._file)
        elif kind == frames.LINK:
            size, rest = frames.split_number(payload)
            self._add(rest[:size], _Entry(kind, 0o777, target=rest[size:]))
        else:
            raise ValueError(f"a frame of kind {kind!r}")

    def _add(self, path: bytes, entry: _Entry) -> None:
        parts = path.split(b"/")
        bad = any(part in (b"", b".", b"..") or part.lower() == b".git" for part in parts)
        if self._tree is None or bad or b"\0" in path or path in self._tree or len(path) > frames.MAX_PATH:
            raise ValueError("a path that cannot be")
        self.budget.files -= 1
        if self.budget.files < 0:
            raise ValueError("more entries than allowed")
        self._tree[path] = entry


def _checked_end(end: dict[str, Any]) -> dict[str, Any]:
    """The message about the end, with its types and ranges verified."""
    code, number = end["exit"], end["signal"]
    whole = all(type(end[key]) is int and end[key] >= 0 for key in ("stdout_bytes", "stderr_bytes"))
    code_fine = code is None or (type(code) is int and 0 <= code <= 255)
    number_fine = number is None or (type(number) is int and 0 < number < 128)
    hit_fine = set(end["hit"]) <= {"memory", "processes", "disk", "inodes"}
    if not (whole and code_fine and number_fine and hit_fine and type(end["timed_out"]) is bool):
        raise ValueError("an impossible end")
    return end


def _tar(tree: Mapping[bytes, _Entry]) -> bytes:
    """The canonical stream: members sorted by their path parts, no owners, no times."""
    out = io.BytesIO()
    with tarfile.open(
        fileobj=out, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as tar:
        for path in sorted(tree, key=lambda path: path.split(b"/")):
            entry = tree[path]
            member = tarfile.TarInfo(path.decode("utf-8", "surrogateescape"))
            member.mode = entry.mode
            member.type = {frames.DIR: tarfile.DIRTYPE, frames.LINK: tarfile.SYMTYPE}.get(entry.kind, tarfile.REGTYPE)
            member.linkname = entry.target.decode("utf-8", "surrogateescape")
            member.size = len(entry.data)
            tar.addfile(member, io.BytesIO(entry.data))
    return out.getvalue()
