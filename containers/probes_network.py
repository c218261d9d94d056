"""Probes: nothing reaches another machine or the host, and what is tried fails fast."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

from containers.probes_base import Bench, Probe, inside, unless

_CONNECT = """
import socket, sys, time
for address in sys.argv[1:]:
    host, _, port = address.rpartition(':')
    began = time.monotonic()
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.settimeout(5); s.connect((host, int(port)))
        print('connected to', address)
    except OSError: pass
    took = time.monotonic() - began
    if took > 2: print(address, 'took', round(took, 1), 's to fail')
"""


def _tcp_out(bench: Bench) -> str | None:
    places = ("192.0.2.1:80", "8.8.8.8:53", "169.254.169.254:80", "10.0.0.1:22", "172.17.0.1:80", "2001:db8::1:80")
    return inside(bench, _CONNECT, *places)


@contextmanager
def _listening(family: int, kind: int, address: object) -> Iterator[socket.socket]:
    """A server socket of the host, with a thread that notes who comes."""
    with closing(socket.socket(family, kind)) as server:
        server.bind(address)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            server.listen(8)
        server.settimeout(0.2)
        yield server


def _tcp_host(bench: Bench) -> str | None:
    came = threading.Event()
    with _listening(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        found = inside(bench, _CONNECT, f"127.0.0.1:{port}", f"172.17.0.1:{port}", f"0.0.0.0:{port}")
        try:
            server.accept()
            came.set()
        except TimeoutError:
            pass
    return found or unless(not came.is_set(), "a connection reached the host")


def _udp(bench: Bench) -> str | None:
    code = """
import socket, sys
for host, port in (('127.0.0.1', int(sys.argv[1])), ('8.8.8.8', 53), ('192.0.2.1', 9)):
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: s.sendto(b'out', (host, port))
        if host != '127.0.0.1': print('sent to', host)
    except OSError: pass
"""
    with _listening(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)) as server:
        found = inside(bench, code, str(server.getsockname()[1]))
        try:
            return found or f"a datagram of {len(server.recv(100))} bytes reached the host"
        except TimeoutError:
            return found


def _dns(bench: Bench) -> str | None:
    code = """
import socket, time
began = time.monotonic()
try: print('resolved', socket.getaddrinfo('example.com', 80))
except OSError: pass
took = time.monotonic() - began
if took > 2: print('took', round(took, 1), 's to fail')
"""
    return inside(bench, code)


def _abstract(bench: Bench) -> str | None:
    name = "\0probe-" + __name__
    code = """
import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[1]); print('connected')
except OSError: pass
if '@' in open('/proc/net/unix').read(): print('abstract sockets are visible')
"""
    with _listening(socket.AF_UNIX, socket.SOCK_STREAM, name):
        return inside(bench, code, name[1:])


def _only_loopback(bench: Bench) -> str | None:
    code = """
import os, socket
names = [name for _, name in socket.if_nameindex()]
if names != ['lo']: print('devices', names)
if len(open('/proc/net/route').read().splitlines()) > 1: print('routes')
"""
    return inside(bench, code)


def _loopback_works(bench: Bench) -> str | None:
    code = """
import socket
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname(), 2)
server.accept()[0].sendall(b'hello')
if client.recv(9) != b'hello': print('no answer')
"""
    return inside(bench, code)


def _families(bench: Bench) -> str | None:
    # Only socket(), never connect(): some of these families reach the host.
    code = """
import socket
for name, family in (('packet', 17), ('vsock', 40), ('alg', 38), ('bluetooth', 31), ('can', 29), ('x25', 9),
                     ('key', 15), ('rds', 21), ('tipc', 30), ('xdp', 44), ('smc', 43), ('qipcrtr', 42)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try: socket.socket(family, kind).close(); print(name, int(kind))
        except OSError: pass
for family in (socket.AF_INET, socket.AF_INET6):
    try: socket.socket(family, socket.SOCK_RAW, 1).close(); print('raw', int(family))
    except OSError: pass
socket.socket(socket.AF_UNIX).close(); socket.socket(socket.AF_INET).close(); socket.socket(socket.AF_INET6).close()
"""
    return inside(bench, code)


class _Echo:
    """An endpoint that sends back what its callers send, one after the other."""

    port = 4141

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._listener = socket.socket()
        self._thread = threading.Thread(target=self._serve)

    def take(self, listener: socket.socket) -> None:
        self.calls.append("take")
        self._listener.close()
        self._listener = listener
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:  # released
                return
            with caller:
                caller.settimeout(10)
                if said := caller.recv(100):
                    caller.sendall(said)

    def release(self) -> None:
        self.calls.append("release")
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def _endpoint(bench: Bench) -> str | None:
    code = """
import socket
with socket.create_connection(('127.0.0.1', 4141), 5) as s:
    s.settimeout(5); s.sendall(b'hello')
    if s.recv(9) != b'hello': print('no answer')
for host, port in (('127.0.0.1', 4142), ('192.0.2.1', 4141), ('8.8.8.8', 53)):
    try: socket.create_connection((host, port), 2).close(); print('reached', host, port)
    except OSError: pass
if [name for _, name in socket.if_nameindex()] != ['lo']: print('devices')
"""
    echo = _Echo()
    found = inside(bench, code, endpoint=echo)
    return found or unless(echo.calls == ["take", "release"], f"the endpoint saw {echo.calls}")


PROBES = (
    Probe("network-tcp", "no address outside answers, and each fails fast", _tcp_out),
    Probe("network-host", "no port of the host answers", _tcp_host),
    Probe("network-udp", "no datagram leaves", _udp),
    Probe("network-dns", "names do not resolve, and fail fast", _dns),
    Probe("network-abstract", "abstract sockets of the host are not there", _abstract),
    Probe("network-devices", "the only device is the loopback, without routes", _only_loopback),
    Probe("network-loopback", "the loopback works inside", _loopback_works),
    Probe("network-endpoint", "an endpoint answers at its port, and opens no other way", _endpoint),
    Probe("socket-families", "no packet, vsock, alg, bluetooth or raw socket", _families),
)
