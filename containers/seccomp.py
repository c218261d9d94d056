"""The seccomp filter of a sandbox as raw BPF, for `bwrap --seccomp FD`.

Default is allow; what is listed fails with EPERM. A call through a foreign architecture kills the caller, and
`socket` knows only the families UNIX, INET, INET6 and NETLINK: AF_VSOCK in particular is not held by a network
namespace and would reach the host.

Invariant: the filter depends on nothing but the machine architecture.
"""

from __future__ import annotations

import errno
import struct

from containers.sandbox import SandboxError

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FAMILIES = (1, 2, 10, 16)  # UNIX, INET, INET6, NETLINK

#: Calls that a build, a test run or git never needs, with their numbers on both architectures.
#: (name, x86_64, aarch64); None where the architecture has no such call.
DENIED: tuple[tuple[str, int | None, int | None], ...] = (
    # other processes
    ("ptrace", 101, 117),
    ("process_vm_readv", 310, 270),
    ("process_vm_writev", 311, 271),
    ("kcmp", 312, 272),
    ("pidfd_getfd", 438, 438),
    ("process_madvise", 440, 440),
    # namespaces and mounts
    ("unshare", 272, 97),
    ("setns", 308, 268),
    ("mount", 165, 40),
    ("umount2", 166, 39),
    ("pivot_root", 155, 41),
    ("chroot", 161, 51),
    ("open_tree", 428, 428),
    ("move_mount", 429, 429),
    ("fsopen", 430, 430),
    ("fsconfig", 431, 431),
    ("fsmount", 432, 432),
    ("fspick", 433, 433),
    ("mount_setattr", 442, 442),
    ("open_tree_attr", 467, 467),
    ("name_to_handle_at", 303, 264),
    ("open_by_handle_at", 304, 265),
    # kernel surfaces with a history
    ("add_key", 248, 217),
    ("request_key", 249, 218),
    ("keyctl", 250, 219),
    ("bpf", 321, 280),
    ("perf_event_open", 298, 241),
    ("userfaultfd", 323, 282),
    ("io_uring_setup", 425, 425),
    ("io_uring_enter", 426, 426),
    ("io_uring_register", 427, 427),
    ("fanotify_init", 300, 262),
    ("lookup_dcookie", 212, 18),
    ("vmsplice", 278, 75),
    # the machine
    ("kexec_load", 246, 104),
    ("kexec_file_load", 320, 294),
    ("init_module", 175, 105),
    ("finit_module", 313, 273),
    ("delete_module", 176, 106),
    ("swapon", 167, 224),
    ("swapoff", 168, 225),
    ("reboot", 169, 142),
    ("acct", 163, 89),
    ("quotactl", 179, 60),
    ("quotactl_fd", 443, 443),
    ("syslog", 103, 116),
    ("sethostname", 170, 161),
    ("setdomainname", 171, 162),
    ("settimeofday", 164, 170),
    ("clock_settime", 227, 112),
    ("adjtimex", 159, 171),
    ("clock_adjtime", 305, 266),
    ("vhangup", 153, 58),
    ("uselib", 134, None),
    ("iopl", 172, None),
    ("ioperm", 173, None),
    ("modify_ldt", 154, None),
    ("nfsservctl", 180, 42),
)
_SPECIAL = {  # calls that are looked at more closely
    "x86_64": {"socket": 41, "clone": 56, "clone3": 435, "ioctl": 16, "personality": 135},
    "aarch64": {"socket": 198, "clone": 220, "clone3": 435, "ioctl": 29, "personality": 92},
}
_NEW_NAMESPACE = 0x7E020000 | 0x80  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing into somebody else's terminal

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_NR, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24  # offsets in struct seccomp_data (low halves)


class _Program:
    """A list of BPF instructions; jumps are given as the number of instructions to skip."""

    def __init__(self) -> None:
        self.code = bytearray()

    def add(self, opcode: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self.code += struct.pack("<HBBI", opcode, if_true, if_false, value)

    def fail(self, code: int) -> None:
        self.add(_RETURN, _FAIL | code)

    def deny(self, number: int, code: int = errno.EPERM) -> None:
        self.add(_EQUAL, number, 0, 1)
        self.fail(code)


def machine_supported(machine: str) -> bool:
    """Whether there is a filter for the machine name (as of `os.uname().machine`)."""
    return machine in AUDIT_ARCH


def build_filter(machine: str) -> bytes:
    """The filter for `machine`: an array of struct sock_filter. Raises SandboxError for an unknown one."""
    if not machine_supported(machine):
        raise SandboxError(f"no seccomp filter for the architecture {machine}", "use the docker sandbox")
    program, special = _Program(), _SPECIAL[machine]
    program.add(_LOAD, _ARCH)
    program.add(_EQUAL, AUDIT_ARCH[machine], 1, 0)
    program.add(_RETURN, _KILL)
    program.add(_LOAD, _NR)
    if machine == "x86_64":
        program.add(_AT_LEAST, 0x40000000, 0, 1)  # the x32 numbers
        program.fail(errno.EPERM)
    for _, x86_64, aarch64 in DENIED:
        number = x86_64 if machine == "x86_64" else aarch64
        if number is not None:
            program.deny(number)
    program.deny(special["clone3"], errno.ENOSYS)  # flags are behind a pointer; libc falls back to clone
    _no_new_namespace(program, special["clone"])
    _no_terminal_input(program, special["ioctl"])
    _families_only(program, special["socket"])
    program.add(_RETURN, _ALLOW)
    return bytes(program.code)


def _no_new_namespace(program: _Program, clone: int) -> None:
    program.add(_EQUAL, clone, 0, 4)
    program.add(_LOAD, _ARG0)
    program.add(_ANY_BIT, _NEW_NAMESPACE & ~0xFF, 0, 1)  # the low byte of clone's flags is the exit signal
    program.fail(errno.EPERM)
    program.add(_RETURN, _ALLOW)


def _no_terminal_input(program: _Program, ioctl: int) -> None:
    program.add(_EQUAL, ioctl, 0, 5)
    program.add(_LOAD, _ARG1)
    program.add(_EQUAL, _TERMINAL_INPUT[0], 1, 0)
    program.add(_EQUAL, _TERMINAL_INPUT[1], 0, 1)
    program.fail(errno.EPERM)
    program.add(_RETURN, _ALLOW)


def _families_only(program: _Program, socket: int) -> None:
    count = len(FAMILIES)
    program.add(_EQUAL, socket, 0, count + 3)
    program.add(_LOAD, _ARG0)
    for index, family in enumerate(FAMILIES):
        program.add(_EQUAL, family, count - index, 0)
    program.fail(errno.EAFNOSUPPORT)
    program.add(_RETURN, _ALLOW)
