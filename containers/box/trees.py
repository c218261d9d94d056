"""Trees into the sandbox before the command, and out of it when nobody else is alive.

Invariant: unpacking follows no link; exporting opens regular files only, keeps the caps, and says of everything
that it left out why. Modes that forbid reading are lifted first: the command is dead and cannot object.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable

from containers.box import frames


class Unpacker:
    """Makes the entries of a stream of frames below the mount named last."""

    def __init__(self, mtime: int) -> None:
        self.mtime = mtime
        self.root = b"/"
        self.file = -1
        self.dirs: list[bytes] = []

    def frame(self, kind: bytes, payload: bytes) -> None:
        """Act on one frame. Raises OSError (a full disk, a path through a link)."""
        if kind == frames.CHUNK:
            frames.write_all(self.file, payload)
            return
        self._close()
        if kind == frames.MOUNT:
            self.root = payload
            self.dirs.append(payload)
        elif kind == frames.DIR:
            self._parents(payload + b"/")
        elif kind == frames.FILE:
            mode, path = frames.split_number(payload)
            self.file = os.open(self._parents(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
            os.fchmod(self.file, mode)
        elif kind == frames.LINK:
            size, rest = frames.split_number(payload)
            full = self._parents(rest[:size])
            os.symlink(rest[size:], full)
            os.utime(full, (self.mtime, self.mtime), follow_symlinks=False)

    def finish(self) -> None:
        """Give the directories their time; nothing may be added afterwards."""
        self._close()
        for path in reversed(self.dirs):
            os.utime(path, (self.mtime, self.mtime))

    def _parents(self, path: bytes) -> bytes:
        full = self.root
        for part in path.split(b"/")[:-1]:
            full += b"/" + part
            try:
                os.mkdir(full, 0o755)
                self.dirs.append(full)
            except FileExistsError:
                if not stat.S_ISDIR(os.lstat(full).st_mode):
                    raise
        return self.root + b"/" + path

    def _close(self) -> None:
        if self.file >= 0:
            os.utime(self.file, (self.mtime, self.mtime))
            os.close(self.file)
            self.file = -1


_TRAVELS = (stat.S_IFDIR, stat.S_IFLNK, stat.S_IFREG)


class Full(Exception):
    """The cap on entries was reached: stop reading trees."""


class Exporter:
    """Sends trees as frames. `caps` are the export limits by their names in `Limits`."""

    def __init__(self, caps: dict[str, int], send: Callable[[bytes], None]) -> None:
        self.caps = caps
        self.send = send
        self.entries = 0
        self.total = 0

    def tree(self, path: str) -> None:
        """Send one tree. Raises Full when no further tree may be read."""
        top = os.fsencode(path)
        self.send(frames.pack(frames.TREE, top))
        self._guarded(b".", lambda: self._walk(top, b"", 0))

    def _walk(self, full: bytes, inside: bytes, depth: int) -> None:
        os.chmod(full, 0o700)
        fd = os.open(full, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            names = sorted(os.fsencode(name) for name in os.listdir(fd))
        finally:
            os.close(fd)
        for name in names:
            path = inside + b"/" + name if inside else name
            if name.lower() == b".git":
                self._drop(path, ".git", cap=False)
                continue
            self._guarded(path, lambda f=full + b"/" + name, p=path: self._entry(f, p, depth))  # type: ignore[misc]

    def _guarded(self, path: bytes, act: Callable[[], None]) -> None:
        try:
            act()
        except OSError as error:
            self._drop(path, f"cannot be read: {error.strerror}", cap=True)

    def _entry(self, full: bytes, path: bytes, depth: int) -> None:
        info = os.lstat(full)
        kind = stat.S_IFMT(info.st_mode)
        if kind not in _TRAVELS:
            self._drop(path, "neither file, directory nor link", cap=False)
            return
        self.entries += 1
        if self.entries > self.caps["export_files"]:
            self._drop(path, "too many entries", cap=True)
            raise Full
        if len(path) > frames.MAX_PATH or depth >= frames.MAX_DEPTH:
            self._drop(path[: frames.MAX_PATH], "the path is too long", cap=True)
        elif kind == stat.S_IFDIR:
            self.send(frames.pack(frames.DIR, path))
            self._walk(full, path, depth + 1)
        elif kind == stat.S_IFLNK:
            self.send(frames.pack_link(path, os.readlink(full)))
        else:
            self._file(full, path, info)

    def _file(self, full: bytes, path: bytes, info: os.stat_result) -> None:
        if info.st_size > self.caps["export_file"]:
            self._drop(path, f"file of {info.st_size} bytes", cap=True)
            return
        if self.total + info.st_size > self.caps["export_total"]:
            self._drop(path, "total size reached", cap=True)
            return
        self.total += info.st_size
        # Only the right to read is added: a hard link of the same file may still come, and its mode is data.
        os.chmod(full, stat.S_IMODE(info.st_mode) | 0o400)
        fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            self.send(frames.pack_file(path, 0o755 if info.st_mode & 0o111 else 0o644))
            while chunk := os.read(fd, frames.BLOCK):
                self.send(frames.pack(frames.CHUNK, chunk))
        finally:
            os.close(fd)

    def _drop(self, path: bytes, why: str, *, cap: bool) -> None:
        text = path.decode("utf-8", "backslashreplace")
        self.send(frames.pack(frames.DROPPED, json.dumps([text, why, cap]).encode()))
