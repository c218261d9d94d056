"""A relay container: it owns the network namespace of one session that has an endpoint.

    session container  --loopback-->  relay container (`relay_inside`)  --unix socket, mounted-->  the endpoint

The session's container has no mount of the host. The socket lies in a folder that only the harness' user can
enter, and is the only thing of the host in the relay container. Why one a session and not one a worker, as pause
containers are: what a session left in a queue must not reach the next one's account.

Invariant: when the context is left, container, socket and folder are gone and the endpoint is released.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from containers import linux, relay_inside
from containers.docker_engine import Attached, Engine, engine_errors
from containers.docker_wire import Demux
from containers.sandbox import Endpoint, SandboxError

_START_SECONDS = 30.0
_BACKLOG = 128
_NAME = "s"
_LOCAL = "use an engine on this machine, or the bubblewrap sandbox"


@contextmanager
def relayed(engine: Engine, endpoint: Endpoint) -> Iterator[str]:
    """The id of a container whose network namespace has the endpoint's port. Raises SandboxError."""
    if not 1 <= endpoint.port <= 65535:
        raise ValueError(f"not a port: {endpoint.port}")
    if sys.platform != "linux" or not engine.is_local:
        raise SandboxError("docker: an engine on another machine cannot reach the relay", _LOCAL)
    with ExitStack() as stack:
        folder = tempfile.mkdtemp(prefix="relay-")
        unlink = ExitStack()
        unlink.callback(shutil.rmtree, folder)
        stack.enter_context(unlink)
        listener = _listen(folder)
        stack.callback(endpoint.release)
        endpoint.take(listener)
        mount = {"Type": "bind", "Source": f"{folder}/{_NAME}", "Target": relay_inside.SOCKET, "ReadOnly": True}
        attached = engine.start_owner(_command(endpoint.port), mount)
        stack.callback(engine.end, attached)
        _wait_ready(attached)
        unlink.close()  # the mount holds the socket: a harness that is killed leaves no file either
        yield attached.id


def _listen(folder: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    try:
        # A thread of its own, because it gives up the current directory that it shares with the others.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(_bind, listener, folder).result()
        os.chmod(f"{folder}/{_NAME}", 0o666)  # the container's user is not ours; the folder is the gate
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise SandboxError(f"docker: no socket for the relay in {folder}: {error.strerror or error}") from error
    return listener


def _bind(listener: socket.socket, folder: str) -> None:
    """The name that is bound shows in the session's /proc/net/unix for each connection: no path of the host."""
    linux.unshare(linux.CLONE_FS)
    os.chdir(folder)
    listener.bind(_NAME)


def _command(port: int) -> list[str]:
    program = Path(relay_inside.__file__).read_text(encoding="utf-8")
    return ["/usr/bin/python3", "-I", "-S", "-B", "-c", program, str(port)]


def _wait_ready(attached: Attached) -> None:
    demux, said, deadline = Demux(), b"", time.monotonic() + _START_SECONDS
    poll = select.poll()
    poll.register(attached.socket, select.POLLIN)
    while said != relay_inside.READY:
        with engine_errors("start the relay"):
            ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
            data = attached.socket.recv(1 << 16) if ready else b""
        if not data:
            lines = demux.trouble.decode("utf-8", "replace").strip().splitlines()
            why = lines[-1] if lines else "it said nothing"
            raise SandboxError(f"docker: the relay container cannot reach the relay: {why}", _LOCAL)
        said += demux.feed(data)
