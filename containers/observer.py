"""What a program in a sandbox tried to reach: names that it asked for and addresses that it called.

    observer = Observer(session)  # any endpoint
    sandbox.run(replace(waiting(spec), endpoint=observer))
    observer.attempts()

It is for looking at agents before they are trusted with a run, not for runs. A sandbox has one device, the loopback,
and no route: a call to another address fails before a packet is made, and there is nothing to see. So the namespace of
an observed sandbox takes every address for one of its own, where nobody listens: the call fails as "refused" in the
place of "unreachable", and its packet is seen. Questions for names are packets to the configured server, or to the
loopback where none is configured. The C library of the embedded sandbox asks none (its /etc knows only files), so names
are to be looked for in docker; programs that bring a resolver of their own ask in both.

Invariant: nothing is answered that was not answered before, and nothing leaves the namespace; what was not seen is
never passed off as not tried: packets that were lost are an error.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from containers import linux
from containers.observer_packets import filter_program, read_packet
from containers.sandbox import Endpoint, SandboxError, Spec

_SIOCGSKNS, _NS_GET_USERNS = 0x894C, 0xB701  # the namespace of a socket; the one that owns a namespace
_ATTACH_FILTER = 26  # a socket option
_PACKETS, _STATISTICS = 263, 6
_EVERYTHING, _OUTGOING = 0x0003, 4  # ETH_P_ALL; the kind of packet that is sent
_BUFFER = 4 << 20  # bytes that are asked for; the kernel may give fewer
_TICK = 0.1  # seconds between looks at whether it is over
_NEW_ROUTE, _REQUEST_ACK_CREATE = 24, 0x405
_LOCAL_TABLE, _STATIC, _HOST, _LOCAL, _DEVICE = 255, 4, 254, 2, 4
_SECONDS = 30.0
#: Until the route for every address stands in the table that anybody may read.
_WAIT = """\
tries=0
until grep -q '/0 host LOCAL' /proc/net/fib_trie; do
    tries=$((tries + 1)); test $tries -lt 2000 || exit 97
    sleep 0.01
done
exec "$@"
"""


@dataclass(frozen=True)
class Attempt:
    """Something that was tried `times` times. `kind` is "name", "tcp", "udp" or "protocol N"; `where` the name, or
    address and port. `answered` says that somebody in the sandbox itself took the connection."""

    kind: str
    where: str
    times: int
    answered: bool = False


def waiting(spec: Spec) -> Spec:
    """The spec with a command that begins when it is observed: sandboxes do not wait for those who answer."""
    return replace(spec, command=("sh", "-c", _WAIT, "sh", *spec.command))


class Observer:
    """An endpoint that passes everything to the endpoint behind it, and looks at the namespace that it answers in.

    In bubblewrap any user may; in docker it has to be root. The spec is to be one of `waiting`.
    """

    def __init__(self, behind: Endpoint) -> None:
        self._behind = behind
        self._watch: _Watch | None = None
        self._waiting: threading.Thread | None = None
        self._error: Exception | None = None

    @property
    def port(self) -> int:
        """See `Endpoint.port`."""
        return self._behind.port

    def take(self, listener: socket.socket) -> None:
        """See `Endpoint.take`. Raises SandboxError when the namespace cannot be entered."""
        if listener.family == socket.AF_UNIX:  # of docker: it comes from our namespace, who connects does not
            self._waiting = threading.Thread(target=self._meet, args=(listener,), name="observer")
            self._waiting.start()
            return
        with _closing(_namespace_of(listener)) as namespace:
            self._watch = _Watch(_open_watch(namespace))
        self._behind.take(listener)

    def _meet(self, listener: socket.socket) -> None:
        """The relay container connects once to see whether it can: by that its namespace is found."""
        try:
            listener.settimeout(_SECONDS)
            probe, _ = listener.accept()
            listener.settimeout(None)
            with probe:
                pid, _, _ = struct.unpack("iii", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            with _closing(os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)) as namespace:
                self._watch = _Watch(_open_watch(namespace))
            self._behind.take(listener)
        except (OSError, SandboxError) as error:
            self._error = error
            listener.close()

    def release(self) -> None:
        """See `Endpoint.release`."""
        if self._waiting is not None:
            self._waiting.join()
        self._behind.release()
        if self._watch is not None:
            self._watch.close()

    def attempts(self) -> tuple[Attempt, ...]:
        """What was tried, in the order of the first time, but for calls of the endpoint's own port.

        To be asked when the session is over. Raises SandboxError when it could not be observed, or not all of it.
        """
        if self._watch is None:
            raise SandboxError(f"the sandbox could not be observed: {self._error or 'it was never started'}")
        if self._watch.lost:
            raise SandboxError(f"{self._watch.lost} packets of the sandbox were lost unseen")
        own = f"127.0.0.1:{self.port}"
        return tuple(
            Attempt(kind, where, times, kind == "tcp" and where in self._watch.answers)
            for (kind, where), times in self._watch.calls.items()
            if where != own
        )


class _Watch:
    """Reads a packet socket in a thread until it is closed. `calls` counts what was tried, `answers` has the ends that
    accepted a connection, `lost` the packets that were not read in time."""

    def __init__(self, source: socket.socket) -> None:
        self.calls: dict[tuple[str, str], int] = {}
        self.answers: set[str] = set()
        self.lost = 0
        self._source = source
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="observer")
        self._thread.start()

    def _read(self) -> None:
        self._source.settimeout(_TICK)
        while True:
            over = self._over.is_set()
            try:
                data, (_, _, direction, *_) = self._source.recvfrom(2048)
            except TimeoutError:
                if over:
                    return
                continue
            seen = read_packet(data) if direction == _OUTGOING else None
            if seen is not None and seen.answer:
                self.answers.add(seen.source)
            elif seen is not None:
                self.calls[seen.kind, seen.target] = self.calls.get((seen.kind, seen.target), 0) + 1

    def close(self) -> None:
        """When everything inside is dead: read what waits, and free the namespace. Safe to call twice."""
        if self._over.is_set():
            return
        self._over.set()
        self._thread.join()
        with self._source:
            _, self.lost = struct.unpack("II", self._source.getsockopt(_PACKETS, _STATISTICS, 8))


class _closing:
    """A descriptor that is closed at the end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _namespace_of(listener: socket.socket) -> int:
    try:
        return fcntl.ioctl(listener.fileno(), _SIOCGSKNS)
    except OSError as error:
        raise SandboxError(f"no namespace to observe: {error.strerror}") from error


def _open_watch(namespace: int) -> socket.socket:
    """A packet socket in a network namespace, from a process that enters it: this one may not, it has threads."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        words = [sys.executable, "-m", "containers.observer", str(namespace), str(theirs.fileno())]
        done = subprocess.run(words, pass_fds=(namespace, theirs.fileno()), capture_output=True, timeout=_SECONDS)
        if done.returncode != 0:
            last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
            raise SandboxError(f"the sandbox could not be observed: {last}")
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=descriptors[0])


def _enter(namespace: int) -> socket.socket:
    """In the process for it: enter, take every address for one's own, and listen."""
    with _closing(fcntl.ioctl(namespace, _NS_GET_USERNS)) as owner:
        if os.fstat(owner).st_ino != os.stat("/proc/self/ns/user").st_ino:
            linux.join(owner, linux.CLONE_NEWUSER)
    linux.join(namespace, linux.CLONE_NEWNET)
    watch = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    program = ctypes.create_string_buffer(code := filter_program(), len(code))
    watch.setsockopt(
        socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(program))
    )
    watch.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
    watch.bind(("lo", _EVERYTHING))
    for family in (*((socket.AF_INET6,) if _has_six() else ()), socket.AF_INET):  # the last is what is waited for
        _own_every_address(family)
    return watch


def _has_six() -> bool:
    """Whether there is version 6 in this namespace; docker turns it off where there is no network."""
    try:
        return Path("/proc/sys/net/ipv6/conf/lo/disable_ipv6").read_text().strip() == "0"
    except FileNotFoundError:
        return False


def _own_every_address(family: socket.AddressFamily) -> None:
    """A route of type "local" for all addresses of a family, over the loopback. Raises OSError."""
    device = struct.pack("HHI", 8, _DEVICE, socket.if_nametoindex("lo"))
    route = struct.pack("BBBBBBBBI", family, 0, 0, 0, _LOCAL_TABLE, _STATIC, _HOST, _LOCAL, 0) + device
    head = struct.pack("IHHII", 16 + len(route), _NEW_ROUTE, _REQUEST_ACK_CREATE, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.sendto(head + route, (0, 0))
        code = -struct.unpack_from("i", kernel.recv(4096), 16)[0]
    if code:
        raise OSError(code, f"no route for every address: {os.strerror(code)}")


def main(namespace: int, link: int) -> None:
    """Enter, and hand the socket out over the unix socket `link`."""
    with socket.socket(fileno=link) as channel, _enter(namespace) as watch:
        socket.send_fds(channel, [b"W"], [watch.fileno()])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
