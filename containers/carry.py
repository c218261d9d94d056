"""Carrying a directory into a mount namespace in which its path cannot be walked.

A directory may lie below one that only its owner may pass, such as a home of mode 0700, and the fork server has
become somebody else. A new mount namespace carries over one thing, the current directory, and the toolchain takes
that. So a child makes a namespace around the second directory, takes a mount of it there that belongs to no
namespace, and hands it over as a descriptor.

Invariant: the child is gone when `pick_up` returns or raises, and a descriptor from it is the only thing left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from typing import NoReturn

from containers import linux

_OPEN_TREE, _MOVE_MOUNT = 428, 429  # numbers of calls since Linux 5.2; the same on every machine
_TREE_CLONE, _MOVE_FROM_EMPTY_PATH, _RECURSIVE, _HERE = 1, 4, 0x8000, -100


def pick_up(directory: int) -> int:
    """A mount of the directory behind the descriptor `directory`, as a descriptor. Raises OSError.

    For an unprivileged process that has not left the mount namespace in which `directory` was opened.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        _be_carrier(directory, theirs)
    theirs.close()
    with ours:
        message, descriptors, _, _ = socket.recv_fds(ours, 16, 1, socket.MSG_CMSG_CLOEXEC)
    os.waitpid(pid, 0)
    if not descriptors:
        code = int(message or b"0")
        raise OSError(code, os.strerror(code) if code else "the child that carries a directory was lost")
    return descriptors[0]


def put_down(mount: int, target: str) -> None:
    """Mount what `pick_up` gave at `target`, and close its descriptor. Raises OSError."""
    try:
        _call(_MOVE_MOUNT, mount, b"", _HERE, os.fsencode(target), _MOVE_FROM_EMPTY_PATH)
    finally:
        os.close(mount)


def _be_carrier(directory: int, sock: socket.socket) -> NoReturn:
    with contextlib.suppress(BaseException):  # nothing of the parent's may run here
        try:
            os.fchdir(directory)
            linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS)
            linux.mount("none", "/", "", linux.MS_REC | linux.MS_PRIVATE)
            mount = _call(_OPEN_TREE, _HERE, b".", _TREE_CLONE | _RECURSIVE | os.O_CLOEXEC)
            socket.send_fds(sock, [b"0"], [mount])
        except OSError as error:
            sock.send(b"%d" % (error.errno or 0))
    os._exit(0)


def _call(number: int, *arguments: int | bytes) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
