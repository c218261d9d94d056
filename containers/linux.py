"""The few Linux calls that Python 3.11 has no function for: namespaces, mounts, prctl, the loopback device.

Invariant: nothing is done at import; every failure is an OSError that names the call.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import os
import platform
import signal
import socket
import struct

CLONE_FS, CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00000200, 0x00020000, 0x10000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_SIOCSIFFLAGS, _IFF_UP_RUNNING = 0x8914, 0x41


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Leave the namespaces named by CLONE_NEW* flags for fresh ones."""
    _check(_libc().unshare(flags), "unshare")


def join(process: int, flags: int) -> None:
    """Enter the namespaces, named by CLONE_NEW* flags, of the process behind the pidfd `process`."""
    _check(_libc().setns(process, flags), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """mount(2); an empty `kind` or `options` is passed as NULL."""
    _check(
        _libc().mount(
            os.fsencode(source),
            os.fsencode(target),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            options.encode() or None,
        ),
        f"mount {kind or 'bind'}",
    )


def die_with(parent: int) -> None:
    """SIGKILL for this process as soon as `parent` is dead. Changing credentials clears it: call it after."""
    _check(_libc().prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os._exit(1)


def default_signals() -> None:
    """Every signal handled by default and none blocked, also those that libc keeps for itself and will not touch.

    What is ignored travels through exec: a harness under nohup, or started by something that ignores more, would
    otherwise hand that on to every command.
    """
    number = {"x86_64": 13, "aarch64": 134}[platform.machine()]  # rt_sigaction
    default = ctypes.create_string_buffer(64)  # a kernel sigaction of zeros: SIG_DFL, no flags, an empty mask
    for which in range(1, 65):
        if which not in (signal.SIGKILL, signal.SIGSTOP):
            _check(_libc().syscall(number, which, default, None, ctypes.c_size_t(8)), "rt_sigaction")
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def stay_inspectable() -> None:
    """Undo what dropping root did: a process that is not dumpable may not write its own uid_map."""
    _check(_libc().prctl(_PR_SET_DUMPABLE, ctypes.c_ulong(1), 0, 0, 0), "prctl")


def become_root_inside(uid: int, gid: int) -> None:
    """Map this process' ids (as seen outside) to 0 in the user namespace it has just entered."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        handle = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)


def loopback_up() -> None:
    """Bring `lo` up in the network namespace of this process."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP_RUNNING))
