"""The filter as bytes: a small BPF machine runs it over the calls that matter, for both architectures."""

import errno
import struct

import pytest

from containers.sandbox import SandboxError
from containers.seccomp import AUDIT_ARCH, DENIED, build_filter, machine_supported

ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
CLONE_NEWUSER, CLONE_THREAD_FLAGS = 0x10000000, 0x003D0F00


def verdict(program: bytes, arch: int, number: int, *args: int) -> int:
    """What the kernel would do with a call: an interpreter for the five instructions that are used."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *(*args, 0, 0, 0, 0, 0, 0)[:6])
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("<HBBI", program, at * 8)
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            at += if_true if holds else if_false


CALLS = {
    "x86_64": {"read": 0, "socket": 41, "clone": 56, "clone3": 435, "ioctl": 16, "openat": 257, "execve": 59},
    "aarch64": {"read": 63, "socket": 198, "clone": 220, "clone3": 435, "ioctl": 29, "openat": 56, "execve": 221},
}
MACHINES = sorted(CALLS)


@pytest.mark.parametrize("machine", MACHINES)
class TestFilter:
    def ask(self, machine: str, name: str, *args: int) -> int:
        return verdict(build_filter(machine), AUDIT_ARCH[machine], CALLS[machine][name], *args)

    @pytest.mark.parametrize("name", ["read", "openat", "execve"])
    def test_ordinary_calls_pass(self, machine: str, name: str) -> None:
        assert self.ask(machine, name) == ALLOW

    def test_everything_listed_is_denied(self, machine: str) -> None:
        program = build_filter(machine)
        column = 1 if machine == "x86_64" else 2
        numbers = {entry[0]: entry[column] for entry in DENIED if entry[column] is not None}
        assert {"ptrace", "unshare", "mount", "bpf", "keyctl", "io_uring_setup"} <= set(numbers)
        seen = {name: verdict(program, AUDIT_ARCH[machine], int(number or 0)) for name, number in numbers.items()}
        assert set(seen.values()) == {FAIL | errno.EPERM}

    def test_no_call_is_listed_twice(self, machine: str) -> None:
        column = 1 if machine == "x86_64" else 2
        numbers = [entry[column] for entry in DENIED if entry[column] is not None]
        assert len(numbers) == len(set(numbers))

    def test_socket_families(self, machine: str) -> None:
        for family in (1, 2, 10, 16):
            assert self.ask(machine, "socket", family) == ALLOW
        for family in (17, 38, 40, 31, 0):  # packet, alg, vsock, bluetooth, unspecified
            assert self.ask(machine, "socket", family) == FAIL | errno.EAFNOSUPPORT

    def test_clone_makes_threads_but_no_namespaces(self, machine: str) -> None:
        assert self.ask(machine, "clone", 17) == ALLOW
        assert self.ask(machine, "clone", CLONE_THREAD_FLAGS) == ALLOW
        for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, CLONE_NEWUSER, 0x20000000, 0x40000000):
            assert self.ask(machine, "clone", flag | 17) == FAIL | errno.EPERM
        assert self.ask(machine, "clone3", CLONE_NEWUSER) == FAIL | errno.ENOSYS

    def test_typing_into_a_terminal(self, machine: str) -> None:
        assert self.ask(machine, "ioctl", 1, 0x5401) == ALLOW
        assert self.ask(machine, "ioctl", 1, 0x5412) == FAIL | errno.EPERM
        assert self.ask(machine, "ioctl", 1, 0x541C) == FAIL | errno.EPERM

    def test_a_foreign_architecture_is_killed(self, machine: str) -> None:
        assert verdict(build_filter(machine), 0x40000003, 11) == KILL


def test_x32_numbers_are_denied() -> None:
    assert verdict(build_filter("x86_64"), AUDIT_ARCH["x86_64"], 0x40000000 | 41, 40) == FAIL | errno.EPERM


def test_unknown_architecture_is_our_error() -> None:
    assert not machine_supported("riscv64")
    with pytest.raises(SandboxError, match="riscv64"):
        build_filter("riscv64")
