"""The fork server of one worker: prepares the root once, then forks a cell for every request.

Started as `python -I -S -c ... ` by `bubblewrap.py` with its configuration as one argument. It has one thread
and loads everything before it forks, so a cell costs a fork and no import.

Invariant: it ends when the harness ends, however that ended, and its cells end with it. It runs as an
unprivileged user: when started by root it becomes another user before it enters a namespace.
"""

from __future__ import annotations

import gc
import json
import os
import pwd
import select
import signal
import socket
import sys
from typing import NoReturn

from containers import linux, rootfs, seccomp, wire
from containers.cell import Cell
from containers.launch import Nursery
from containers.rootfs import Root
from containers.sandbox import SandboxError

_FIRST_UID, _LAST_UID = 62000, 65000  # above accounts, below nobody


def main() -> None:
    """Serve until the harness is gone.

    The argument is JSON: sock, parent, engine, tools, layer, cgroups, controllers.
    """
    config = json.loads(sys.argv[1])
    sock = socket.socket(fileno=config["sock"])
    sock.set_inheritable(False)
    try:
        root, nursery = _prepare(config)
    except SandboxError as error:
        wire.send_message(sock, {"error": error.reason, "remedy": error.remedy}, [])
        return
    except OSError as error:
        wire.send_message(sock, diagnose(error), [])
        return
    gc.collect()
    gc.freeze()  # a collection in a cell would copy every page
    wire.send_message(sock, {"ready": True}, [])
    _serve(sock, config["parent"], root, nursery)


def _prepare(config: dict[str, object]) -> tuple[Root, Nursery]:
    cgroups = config["cgroups"]
    controllers = config["controllers"]
    assert isinstance(cgroups, list)
    assert isinstance(controllers, list)
    for descriptor in cgroups:
        os.set_inheritable(descriptor, False)
    engine_places = config["engine"]
    assert isinstance(engine_places, dict)
    engine = rootfs.Engine.read(engine_places)
    filters = seccomp.build_filter(os.uname().machine)
    tools = config["tools"]
    if tools is not None:
        os.chdir(str(tools))
    layer = None if config["layer"] is None else os.open(str(config["layer"]), os.O_PATH | os.O_DIRECTORY)
    os.umask(0o022)
    _drop_root()
    mount = None if layer is None else rootfs.carry_layer(layer)
    uid, gid = os.getuid(), os.getgid()
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS)
    linux.become_root_inside(uid, gid)
    root = rootfs.prepare(engine, tools is not None, mount)
    nursery = Nursery(root, filters, cgroups, frozenset(map(str, controllers)))
    for descriptor in cgroups:
        os.close(descriptor)
    return root, nursery


def _drop_root() -> None:
    if os.geteuid() != 0 or not _is_mapped(_FIRST_UID, _LAST_UID):
        return  # root of a user namespace that has no other user is no more than an ordinary user
    uid = next(number for number in range(_FIRST_UID, _LAST_UID) if not _has_account(number))
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    linux.stay_inspectable()


def _is_mapped(first: int, last: int) -> bool:
    with open("/proc/self/uid_map") as file:
        for line in file:
            start, _, count = map(int, line.split())
            if start <= first and last <= start + count:
                return True
    return False


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _serve(sock: socket.socket, parent: int, root: Root, nursery: Nursery) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is the harness' to handle
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for cells: their reply is their end
    life, nursed = os.pidfd_open(parent), os.pidfd_open(nursery.pid)
    poller = select.poll()
    poller.register(life, select.POLLIN)
    poller.register(nursed, select.POLLIN)
    poller.register(sock.fileno(), select.POLLIN)
    ready = _fork_cell(sock, life, root, nursery)
    while True:
        events = dict(poller.poll())
        if life in events or nursed in events or os.getppid() != parent:
            return
        message, descriptors, _, _ = socket.recv_fds(sock, 1, 3)
        if not message:
            return
        try:
            socket.send_fds(ready, [b"R"], descriptors)
        except (BrokenPipeError, ConnectionResetError):  # somebody killed it while it was waiting
            ready.close()
            ready = _fork_cell(sock, life, root, nursery)
            socket.send_fds(ready, [b"R"], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        ready.close()
        ready = _fork_cell(sock, life, root, nursery)


def _fork_cell(sock: socket.socket, life: int, root: Root, nursery: Nursery) -> socket.socket:
    """A cell that waits for its request at the other end of the returned socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    server = os.getpid()
    if os.fork() == 0:
        for handle in (sock, ours):
            handle.close()
        os.close(life)
        _be_cell(server, theirs, root, nursery)
    theirs.close()
    return ours


def _be_cell(server: int, link: socket.socket, root: Root, nursery: Nursery) -> NoReturn:
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        cell = Cell(server, root, nursery)
        _, descriptors, _, _ = socket.recv_fds(link, 1, 3)
        link.close()
        if descriptors:
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)  # received ones are; the run must not get them
            cell.serve(socket.socket(fileno=descriptors[0]), descriptors[1:])
    finally:
        os._exit(0)


def diagnose(error: OSError) -> dict[str, str]:
    """What a failed set-up of namespaces means, and what helps."""

    def value(name: str) -> str:
        try:
            with open(f"/proc/sys/{name}") as file:
                return file.read().strip()
        except OSError:
            return ""

    if value("user/max_user_namespaces") == "0":
        return {
            "error": "user namespaces are switched off",
            "remedy": "sudo sysctl user.max_user_namespaces=10000, or use the docker sandbox",
        }
    if value("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return {
            "error": "AppArmor restricts unprivileged user namespaces (Ubuntu 23.10 and later)",
            "remedy": "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or use the docker sandbox",
        }
    if value("kernel/unprivileged_userns_clone") == "0":
        return {
            "error": "unprivileged user namespaces are switched off",
            "remedy": "sudo sysctl kernel.unprivileged_userns_clone=1, or use the docker sandbox",
        }
    return {
        "error": f"no user namespace could be set up: {error.strerror or error}",
        "remedy": "allow unprivileged user namespaces, or use the docker sandbox",
    }
