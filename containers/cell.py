"""The supervisor of one run: a process forked by the fork server that lives exactly as long as the run.

It enters namespaces of its own, mounts the writable places with their quota, unpacks the trees, starts bwrap,
watches, exports what was asked for and replies. It never cleans up: its end frees everything it made, which is
also what happens when it is killed.

Invariant: nothing that was started is alive when the reply is sent, and no byte of the run touches a disk.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from containers import linux, wire
from containers.export import Budget, export_bytes
from containers.footprint import Footprint
from containers.launch import Nursery, NurseryGone, Streams
from containers.rootfs import HOME, HOSTNAME, UID, Root
from containers.sandbox import WORK, Limits, SandboxError
from containers.unpack import unpack
from containers.watch import Watch

PATH = "/tools/bin:/usr/bin:/bin"
_BACKLOG = 128  # connections that may wait for the harness to accept them
ENVIRONMENT = {"PATH": PATH, "HOME": HOME, "LANG": "C.UTF-8", "TZ": "UTC"}


@dataclass(frozen=True)
class _Place:
    """A directory inside and what is behind it here."""

    path: str
    source: str
    writable: bool


class Cell:
    """A cell that has entered its namespaces and is ready for its one run.

    `server` is the process that it dies with. Made ahead of the request, which saves the time of it.
    """

    def __init__(self, server: int, root: Root, nursery: Nursery) -> None:
        self._root, self._nursery = root, nursery
        self._error: OSError | None = None
        try:
            _enter_namespaces(server)
        except OSError as error:  # told to the peer as soon as there is one
            self._error = error

    def serve(self, sock: socket.socket, streams: list[int]) -> None:
        """Do the run for the peer at `sock`. With two `streams` (stdin, stdout) it is a conversation."""
        try:
            header, blobs = wire.receive_message(sock)
            if self._error is not None:
                raise SandboxError(f"no namespaces for a sandbox: {self._error.strerror or self._error}")
            reply, data = _run(sock, header, blobs, streams, self._root, self._nursery)
        except wire.Hangup:
            return
        except SandboxError as error:
            worn = isinstance(error, NurseryGone)
            reply, data = {"error": error.reason, "remedy": error.remedy, "worn": worn}, []
        except Exception as error:  # a cell has no other way to tell
            reply, data = {"error": f"the supervisor failed: {error!r}", "remedy": "", "worn": True}, []
        with contextlib.suppress(wire.Hangup):
            wire.send_message(sock, reply, data)


def _run(
    sock: socket.socket,
    request: dict[str, Any],
    blobs: list[bytes],
    streams: list[int],
    root: Root,
    nursery: Nursery,
) -> tuple[dict[str, Any], list[bytes]]:
    clock = [time.monotonic()]
    limits = Limits(**request["limits"])
    if "port" in request:
        _offer_port(sock, int(request["port"]))
    places = _make_places(request["mounts"], limits, root)
    clock.append(time.monotonic())
    for place, tar in zip(places, blobs[1:], strict=False):
        _fill(place, tar)
    clock.append(time.monotonic())
    pipes = Streams.make(streams)
    launch = nursery.launch(request["command"], _arguments(request, places, root), limits, pipes)
    watch = Watch(launch, sock, limits.wall, limits.output)
    _connect(watch, pipes, blobs[0])
    if "memory" not in nursery.controllers:
        watch.every_tick(Footprint(watch, [place.source for place in places if place.writable], limits.memory))
    watch.run()
    clock.append(time.monotonic())
    if watch.peer_gone:
        raise wire.Hangup
    code = _exit_code(watch)
    budget = Budget.of(limits)
    trees = [_export(place, budget) for place in places if place.path in request["exports"]]
    clock.append(time.monotonic())
    stages = ("setup", "copy_in", "run", "export")
    reply = {
        "code": code,
        "timed_out": watch.timed_out,
        "worn": watch.wait_status is None,  # the nursery was killed with the run
        "written": [watch.stdout.total, watch.stderr.total],
        "exports": [place.path for place in places if place.path in request["exports"]],
        "dropped": [[entry.path, entry.why, entry.cap] for entry in budget.all_dropped()],
        "hit": _hits(watch, places, limits),
        "timings": {name: clock[i + 1] - clock[i] for i, name in enumerate(stages)},
    }
    return reply, [bytes(watch.stdout.data), bytes(watch.stderr.data), *trees]


def _enter_namespaces(server: int) -> None:
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS | linux.CLONE_NEWNET)
    linux.become_root_inside(0, 0)
    linux.die_with(server)
    linux.loopback_up()


def _offer_port(sock: socket.socket, port: int) -> None:
    """Listen in the network namespace of the run and hand the listener out; nobody here keeps it."""
    try:
        with socket.create_server(("127.0.0.1", port), backlog=_BACKLOG) as listener:
            wire.send_message(sock, {"listening": True}, [])
            socket.send_fds(sock, [b"L"], [listener.fileno()])
    except ConnectionError as error:
        raise wire.Hangup from error
    except OSError as error:
        raise SandboxError(f"no port {port} inside a sandbox: {error.strerror or error}") from error


def _make_places(mounts: list[dict[str, Any]], limits: Limits, root: Root) -> list[_Place]:
    """Mount what the run may see: each writable place with a quota of its own, the others on one tmpfs."""
    linux.mount("tmpfs", root.cell, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    quota = f"size={limits.disk},nr_inodes={limits.inodes},mode=755"
    wanted = [(mount["path"], bool(mount["writable"])) for mount in mounts]
    given = {path for path, _ in wanted}
    wanted += [(path, True) for path in ("/tmp", HOME, "/dev/shm") if path not in given]
    places = []
    for index, (path, writable) in enumerate(wanted):
        source = f"{root.cell}/{index}"
        os.mkdir(source, 0o755)
        if writable:
            linux.mount("tmpfs", source, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, quota)
        places.append(_Place(path, source, writable))
    return places


def _fill(place: _Place, tar: bytes) -> None:
    try:
        unpack(tar, place.source)
    except OSError as error:
        raise SandboxError(f"the tree for {place.path} does not fit: {error.strerror}") from error


def _connect(watch: Watch, pipes: Streams, stdin: bytes) -> None:
    if pipes.stdout >= 0:
        watch.drain(pipes.stdout, watch.stdout)
    watch.drain(pipes.stderr, watch.stderr)
    if pipes.stdin >= 0:
        watch.feed(pipes.stdin, stdin)


def _arguments(request: dict[str, Any], places: list[_Place], root: Root) -> list[str]:
    args = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup"]
    args += ["--disable-userns", "--uid", str(UID), "--gid", str(UID), "--hostname", HOSTNAME]
    args += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    environment: Mapping[str, str] = {**ENVIRONMENT, **request["env"]}
    for name, value in environment.items():
        args += ["--setenv", name, value]
    shown = root.layer_binds if request["layer"] else ()
    args += [*root.binds, *shown, "--proc", "/proc", "--dev", "/dev"]
    if all(place.path != WORK for place in places):
        args += ["--dir", WORK]
    args += ["--perms", "0755", "--dir", os.path.dirname(HOME)]
    for place in sorted(places, key=lambda item: item.path.count("/")):
        args += ["--bind" if place.writable else "--ro-bind", place.source, place.path]
    return [*args, "--remount-ro", "/dev/pts", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", request["cwd"]]


def _exit_code(watch: Watch) -> int | None:
    """What bwrap ended with, or None when it was killed. bwrap starting no command is our failure, mostly.

    The processes inside can reach bwrap's first process and choose this number; it is no more than their word.
    """
    status = watch.wait_status
    if status is None or not os.WIFEXITED(status):
        return None
    if watch.started:
        return os.WEXITSTATUS(status)
    if watch.killed:
        return None
    text = watch.stderr.data.decode("utf-8", "backslashreplace").strip()
    if "execvp " not in text:
        raise SandboxError(f"bwrap failed: {text.splitlines()[-1] if text else 'no message'}")
    watch.stderr.data = bytearray(text.rpartition("execvp ")[2].encode() + b"\n")
    watch.stderr.total = len(watch.stderr.data)
    return 126 if "Permission denied" in text else 127


def _export(place: _Place, budget: Budget) -> bytes:
    handle = os.open(place.source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return export_bytes(handle, budget, place.path + "/")
    finally:
        os.close(handle)


def _hits(watch: Watch, places: list[_Place], limits: Limits) -> list[str]:
    hits = set()
    if watch.timed_out:
        hits.add("wall")
    if watch.over_memory:
        hits.add("memory")
    if max(watch.stdout.total, watch.stderr.total) > limits.output:
        hits.add("output")
    for place in places:
        if place.writable:
            space = os.statvfs(place.source)
            if space.f_bfree == 0:
                hits.add("disk")
            if space.f_ffree == 0:
                hits.add("inodes")
    return sorted(hits)
