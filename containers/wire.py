"""What the harness and a cell say to each other over one socket per run.

A message is a JSON header with its length in front, then the byte strings whose lengths the header names.
The harness sends one request and later perhaps one command byte; the cell sends one reply.

Invariant: the peer of a cell is the harness and the other way round. Bytes of an agent travel only as opaque
byte strings, never in a header field that is acted upon.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

FINISH = b"F"  # command: the peer saw the end of the stream, allow a natural exit for a moment
KILL = b"K"  # command: kill now
_MAX_HEADER = 64 << 20


class Hangup(Exception):
    """The peer is gone."""


def send_message(sock: socket.socket, header: dict[str, Any], blobs: Sequence[bytes]) -> None:
    """Send `header` and `blobs`. Raises Hangup when the peer is gone."""
    text = json.dumps({"header": header, "sizes": [len(blob) for blob in blobs]}).encode()
    try:
        sock.sendall(struct.pack("<Q", len(text)) + text)
        for blob in blobs:
            if blob:
                sock.sendall(blob)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Hangup from error


def receive_message(sock: socket.socket) -> tuple[dict[str, Any], list[bytes]]:
    """The next message. Raises Hangup at end of stream and TimeoutError by the timeout of `sock`."""
    (size,) = struct.unpack("<Q", _exactly(sock, 8))
    if size > _MAX_HEADER:
        raise Hangup
    message = json.loads(_exactly(sock, size))
    return message["header"], [_exactly(sock, length) for length in message["sizes"]]


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view = memoryview(data)
    done = 0
    while done < size:
        try:
            count = sock.recv_into(view[done:])
        except ConnectionResetError as error:
            raise Hangup from error
        if count == 0:
            raise Hangup
        done += count
    view.release()
    return bytes(data)
