"""Frames between the harness and the first process of a docker sandbox: kind, length, payload.

Invariant: a frame means the same on both sides because both import this file.
"""

from __future__ import annotations

import os
import struct

HEAD = struct.Struct(">cI")
MODE = struct.Struct(">H")

# Harness to sandbox.
HEADER, MOUNT, GO, STDIN, STDIN_END = b"H", b"M", b"G", b"i", b"q"
# Sandbox to harness.
STARTED, STDOUT, STDERR, EXIT = b"s", b"o", b"e", b"x"
TREE, DROPPED, BROKEN, END = b"T", b"D", b"B", b"Z"
# Both ways, entries of a tree: FILE and LINK name a path, CHUNK is content of the last FILE.
DIR, FILE, CHUNK, LINK = b"d", b"f", b"c", b"l"

BLOCK = 1 << 16  # largest content of one frame
MAX_PATH = 4000  # bytes of one path inside a tree
MAX_DEPTH = 128  # directories below each other


def pack(kind: bytes, payload: bytes = b"") -> bytes:
    """One frame."""
    return HEAD.pack(kind, len(payload)) + payload


def pack_file(path: bytes, mode: int) -> bytes:
    """The frame that begins a file; its content follows in CHUNK frames."""
    return pack(FILE, MODE.pack(mode) + path)


def pack_link(path: bytes, target: bytes) -> bytes:
    """The frame of a symbolic link."""
    return pack(LINK, MODE.pack(len(path)) + path + target)


def split_number(payload: bytes) -> tuple[int, bytes]:
    """The leading number of a FILE (mode) or LINK (length of the path) payload, and the rest."""
    return MODE.unpack_from(payload)[0], payload[MODE.size :]


class Frames:
    """Bytes in, whole frames out. `limit` is the largest payload that is believed."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.data = bytearray()

    def feed(self, chunk: bytes) -> None:
        self.data += chunk

    def take(self) -> tuple[bytes, bytes] | None:
        """The next frame, or None until more is fed. Raises ValueError for a frame over the limit."""
        if len(self.data) < HEAD.size:
            return None
        kind, size = HEAD.unpack_from(self.data)
        if size > self.limit:
            raise ValueError(f"a frame of {size} bytes")
        end = HEAD.size + size
        if len(self.data) < end:
            return None
        payload = bytes(self.data[HEAD.size : end])
        del self.data[:end]
        return kind, payload


def write_all(fd: int, data: bytes) -> None:
    """Write everything to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
