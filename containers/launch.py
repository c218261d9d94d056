"""Starting bwrap for a cell, through a nursery: a process that lives in the worker's cgroup and forks there.

Moving a process into a cgroup stops every fork on the machine for some ten milliseconds; a child that is forked
inside is there at once. The cell stays outside, so a run that uses up its memory cannot take its supervisor.

Invariant: what the nursery started dies with the cell that asked for it and with the nursery. It has no
descriptor but the three standard streams and those that bwrap reads and closes itself, and its limits are set
before bwrap starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import struct
from dataclasses import dataclass
from typing import NoReturn

from containers import linux
from containers.rootfs import Root
from containers.sandbox import Limits, SandboxError

_OPEN_FILES = 4096
_OOM_SCORE = b"500"  # the kernel should rather take what runs inside than one of ours
# bwrap's first process stays inside, and what it freed can be read there: the host's mount table, which it parsed.
# So its allocator overwrites what it frees. The command's own environment is set apart from this.
_BWRAP_ENVIRONMENT = {b"GLIBC_TUNABLES": b"glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"}
_OVERHEAD = 4  # processes of bwrap that count as well
_GROUP_OVERHEAD = 16  # where a cgroup counts processes, it should be the first to refuse: it counts the hits


@dataclass(frozen=True)
class Streams:
    """The standard streams: `inside` are the command's, the others our ends (-1 = the peer has it)."""

    inside: tuple[int, int, int]
    stdin: int
    stdout: int
    stderr: int

    @classmethod
    def make(cls, given: list[int]) -> Streams:
        """Pipes for all three, or only stderr when stdin and stdout are `given`."""
        error_read, error_write = os.pipe()
        if given:
            return cls((given[0], given[1], error_write), -1, -1, error_read)
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        return cls((in_read, out_write, error_write), in_write, out_read, error_read)


@dataclass(frozen=True)
class Launch:
    """A started bwrap: `status` is its status pipe, `link` the nursery's word on its end.

    Four bytes come from `link` when bwrap has ended: its wait status. Shutting it down kills bwrap.
    """

    status: int
    link: socket.socket


class NurseryGone(SandboxError):
    """The nursery was killed, so this worker has to be replaced."""


class Nursery:
    """The fork server's handle on its nursery; cells inherit it. One run at a time."""

    def __init__(self, root: Root, filters: bytes, cgroups: list[int], controllers: frozenset[str]) -> None:
        self._root, self._filters, self.controllers = root, filters, controllers
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self._ours.close()
            _be_nursery(server, theirs, cgroups, root.bwrap, controllers)
        theirs.close()

    def launch(self, command: list[str], arguments: list[str], limits: Limits, streams: Streams) -> Launch:
        """Start bwrap in the namespaces of this process. Closes the streams that are inside.

        Raises NurseryGone.
        """
        status_read, status_write = os.pipe()
        link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        order = json.dumps([command, [limits.processes, limits.memory]]).encode()
        passed = [
            *(theirs.detach(), os.pidfd_open(os.getpid()), _in_memory("order", order), *streams.inside),
            *(_in_memory("args", b"\0".join(map(os.fsencode, arguments))), _in_memory("filter", self._filters)),
            status_write,
        ]
        try:
            socket.send_fds(self._ours, [b"L"], passed)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise NurseryGone("the process that starts sandboxes is gone") from error
        finally:
            for descriptor in passed:
                os.close(descriptor)
        return Launch(status_read, link)


def _be_nursery(
    server: int, sock: socket.socket, cgroups: list[int], bwrap: str, controllers: frozenset[str]
) -> NoReturn:
    try:
        linux.die_with(server)
        for handle in cgroups:
            os.write(handle, b"0")
            os.close(handle)
        while True:
            message, descriptors, _, _ = socket.recv_fds(sock, 1, 16)
            if not message:
                break
            _serve(descriptors, bwrap, controllers)
    finally:
        os._exit(1)


def _serve(descriptors: list[int], bwrap: str, controllers: frozenset[str]) -> None:
    """Fork one bwrap and stay with it to its end, or kill it when the cell is gone or says so."""
    link = socket.socket(fileno=descriptors[0])
    nursery = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_bwrap(nursery, descriptors, bwrap, controllers)
    for descriptor in descriptors[1:]:
        os.close(descriptor)
    child = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(child, select.POLLIN)
    poller.register(link.fileno(), select.POLLIN)
    if all(descriptor != child for descriptor, _ in poller.poll()):
        signal.pidfd_send_signal(child, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(child)
    with contextlib.suppress(OSError):  # nobody to tell
        link.sendall(struct.pack("<i", status))
    link.close()


def _become_bwrap(nursery: int, descriptors: list[int], bwrap: str, controllers: frozenset[str]) -> NoReturn:
    """In the child. Whatever fails here ends in status 125 with a line on stderr, as bwrap's own failures do."""
    _, cell, order, stdin, stdout, stderr, args, filters, status = descriptors
    try:
        for target, source in enumerate((stdin, stdout, stderr)):
            os.dup2(source, target)
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor not in (0, 1, 2, args, filters, status):
                with contextlib.suppress(OSError):  # the one that listed the directory is closed already
                    os.set_inheritable(descriptor, False)  # received descriptors are inheritable
        command, (processes, memory) = json.loads(_contents(order))
        linux.join(cell, linux.CLONE_NEWUSER | linux.CLONE_NEWNS | linux.CLONE_NEWNET)
        linux.die_with(nursery)
        linux.default_signals()
        _set_limits(processes, memory, controllers)
        options = [b"--args", b"%d" % args, b"--seccomp", b"%d" % filters, b"--json-status-fd", b"%d" % status]
        # its first argument is its name in the process list inside
        os.execve(bwrap, [b"init", *options, b"--", *map(os.fsencode, command)], _BWRAP_ENVIRONMENT)
    except BaseException as error:
        os.write(2, f"bwrap: cannot start: {error}\n".encode())
    os._exit(125)


def _set_limits(processes: int, memory: int, controllers: frozenset[str]) -> None:
    _limit(resource.RLIMIT_CORE, 1)  # not 0: a core_pattern that is a pipe ignores 0, and stops at 1
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_NPROC, processes + (_GROUP_OVERHEAD if "pids" in controllers else _OVERHEAD))
    if "memory" not in controllers:
        _limit(resource.RLIMIT_AS, memory)
    with contextlib.suppress(OSError):  # helps, but nothing rests on it
        handle = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        try:
            os.write(handle, _OOM_SCORE)
        finally:
            os.close(handle)


def _limit(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))


def _in_memory(name: str, data: bytes) -> int:
    """A descriptor that reads as `data`."""
    handle = os.memfd_create(name, os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def _contents(handle: int) -> bytes:
    parts = []
    while block := os.read(handle, 1 << 16):
        parts.append(block)
    return b"".join(parts)
