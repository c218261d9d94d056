"""The embedded sandbox on this host: what goes in and out, and its limits.

The shared self-check asks the general questions; here are the ones about this implementation.
"""

import platform
import secrets
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from containers import cgroup
from containers.bubblewrap import BubblewrapSandbox
from containers.rootfs import HOME
from containers.sandbox import MIB, Limits, Mount, SandboxError, Spec
from containers.toolchain import Toolchain, build_toolchain
from containers.unpack import unpack

from .bubblewrap_kit import ROOT, files_of, one, processes_with, sh, tar

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")


@pytest.fixture(scope="module")
def toolchain(cache: Path) -> Toolchain:
    return build_toolchain(cache)


@pytest.fixture(scope="module")
def sandbox(toolchain: Toolchain) -> Iterator[BubblewrapSandbox]:
    with BubblewrapSandbox(toolchain) as made:
        yield made


class TestInside:
    def test_environment_is_exactly_this(self, sandbox: BubblewrapSandbox) -> None:
        lines = sh(sandbox, "env", env={"TASK": "a b"}).stdout.decode().splitlines()
        # PWD is set by bwrap itself when it enters the directory
        assert sorted(lines) == [
            "HOME=/home/dev",
            "LANG=C.UTF-8",
            "PATH=/tools/bin:/usr/bin:/bin",
            "PWD=/work",
            "TASK=a b",
            "TZ=UTC",
        ]

    def test_accounts_and_names(self, sandbox: BubblewrapSandbox) -> None:
        shown = sh(sandbox, "id -un; id -u; hostname; cut -d: -f1 /etc/passwd; cat /etc/hosts").stdout.decode()
        assert shown.splitlines()[:4] == ["dev", "1000", "box", "dev"]
        assert platform.node() not in shown or platform.node() in ("box", "localhost")

    def test_no_path_of_the_host(self, sandbox: BubblewrapSandbox, toolchain: Toolchain) -> None:
        script = (
            "cat /proc/self/mountinfo /proc/mounts /proc/self/cgroup /proc/self/maps /proc/1/maps; ls -l /proc/1/;"
            "tr '\\0' '\\n' </proc/1/cmdline; tr '\\0' '\\n' </proc/1/environ; ls -l /proc/1/fd /proc/self/fd; set"
        )
        shown = sh(sandbox, script).stdout
        for word in (
            str(ROOT),
            str(toolchain.directory),
            toolchain.digest[:12],
            "dreambench",
            ".venv",
            "site-packages/b",
        ):
            assert word.encode() not in shown
        assert b"/work" in shown

    def test_only_standard_descriptors(self, sandbox: BubblewrapSandbox) -> None:
        code = "import os; print([n for n in range(3, 200) if os.path.exists(f'/proc/self/fd/{n}')])"
        assert sandbox.run(Spec(("python3", "-c", code), cwd=HOME)).stdout == b"[]\n"

    def test_masked_and_missing(self, sandbox: BubblewrapSandbox) -> None:
        script = "ls /usr/local /usr/share/doc /usr/lib/python3/dist-packages 2>/dev/null | grep -v :; ls -A /"
        shown = sh(sandbox, script).stdout.decode().split()
        assert set(shown) - {"lib32", "libx32", "lib64"} == {"bin", "dev", "etc", "home", "lib", "proc"} | {
            *("sbin", "tmp", "tools", "usr", "work")
        }

    def test_tools(self, sandbox: BubblewrapSandbox) -> None:
        script = "for t in python3 pytest git awk; do command -v $t; done; python3 -c 'import sys; print(sys.prefix)'"
        shown = sh(sandbox, script).stdout.decode().split()
        assert shown == ["/tools/bin/python3", "/tools/bin/pytest", "/usr/bin/git", "/usr/bin/awk", "/tools"]

    def test_no_more_namespaces(self, sandbox: BubblewrapSandbox) -> None:
        result = sh(sandbox, "unshare -U true; unshare -rm true; mount -t tmpfs x /tmp")
        assert result.exit != 0
        assert result.stderr.count(b"\n") >= 3

    def test_pytest_runs(self, sandbox: BubblewrapSandbox) -> None:
        tree = tar({"test_a.py": b"def test_a():\n    assert 1 + 1 == 2\n"})
        result = sh(sandbox, "pytest -q", mounts={"/work": Mount(tree, writable=True)})
        assert result.exit == 0, result
        assert b"1 passed" in result.stdout

    def test_describe_names_no_path(self, sandbox: BubblewrapSandbox, toolchain: Toolchain) -> None:
        shown = sandbox.describe()
        assert shown["toolchain"] == toolchain.digest
        assert {"engine", "bubblewrap", "python", "pytest", "git"} <= set(shown)
        assert not any("/" in value for value in shown.values())


class TestTrees:
    def test_in_and_out(self, sandbox: BubblewrapSandbox) -> None:
        mounts = {"/work": Mount(tar({"a/b.txt": b"one"}), writable=True), "/x/y": Mount(writable=True)}
        script = "echo two > /x/y/new; cat a/b.txt; stat -c '%a %u %Y' a a/b.txt; rm a/b.txt; echo 3 > c"
        result = sh(sandbox, script, mounts=mounts, exports=("/work", "/x/y"))
        assert result.stdout == b"one755 1000 1735689600\n644 1000 1735689600\n"
        assert files_of(result.exports["/work"]) == {"c": b"3\n"}
        assert files_of(result.exports["/x/y"]) == {"new": b"two\n"}

    def test_read_only_is_read_only(self, sandbox: BubblewrapSandbox) -> None:
        mounts = {"/task": Mount(tar({"prompt.md": b"do"}))}
        script = "for p in /task/x /task/prompt.md /tools/x /usr/x /etc/x /x /dev/x /work/x; do echo y >> $p; done"
        result = sh(sandbox, f"({script}) 2>&1 | grep -c 'Read-only file system'", mounts=mounts, cwd="/tmp")
        assert result.stdout == b"8\n"

    @pytest.mark.parametrize(
        "data",
        [
            one("../out"),
            one("/abs"),
            one("a/../../out"),
            one("d", tarfile.SYMTYPE, "/tmp") + one("d/f"),
            one("f") + one("f"),
            one("f") + one("f/g"),
            one("a") + one("hard", tarfile.LNKTYPE, "a"),
            one("pipe", tarfile.FIFOTYPE),
            one("null", tarfile.CHRTYPE),
        ],
        ids=["parent", "absolute", "inner-parent", "below-link", "twice", "below-file", "hard-link", "fifo", "device"],
    )
    def test_bad_members_are_refused(self, data: bytes, tmp_path: Path) -> None:
        root = tmp_path / "root"
        root.mkdir()
        with pytest.raises(SandboxError):
            unpack(data + b"\0" * 1024, str(root))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["root"]

    def test_a_bad_tree_costs_nothing_else(self, sandbox: BubblewrapSandbox) -> None:
        with pytest.raises(SandboxError, match="outside its tree"):
            sh(sandbox, "true", mounts={"/work": Mount(one("../x") + b"\0" * 1024, writable=True)})
        assert sh(sandbox, "echo fine").stdout == b"fine\n"

    def test_a_tree_beyond_the_quota_is_our_error(self, sandbox: BubblewrapSandbox) -> None:
        mounts = {"/work": Mount(tar({"big": b"x" * MIB}), writable=True)}
        with pytest.raises(SandboxError, match="does not fit"):
            sh(sandbox, "true", Limits(disk=MIB // 2), mounts=mounts)

    def test_a_spec_that_makes_no_sense(self, sandbox: BubblewrapSandbox) -> None:
        for spec in (
            Spec(()),
            Spec(("true",), mounts={"/usr/x": Mount()}),
            Spec(("true",), mounts={"/": Mount()}),
            Spec(("true",), mounts={"work": Mount()}),
            Spec(("true",), mounts={"/a/../b": Mount()}),
            Spec(("true",), mounts={"/task": Mount()}, exports=("/task",)),
            Spec(("true",), env={"A=B": "c"}),
        ):
            with pytest.raises(ValueError):
                sandbox.run(spec)


class TestEnds:
    @pytest.mark.parametrize(
        ("command", "code", "number"),
        [("exit 0", 0, None), ("exit 255", 255, None), ("kill -9 $$", None, 9), ("kill -15 $$", None, 15)],
    )
    def test_codes(self, sandbox: BubblewrapSandbox, command: str, code: int | None, number: int | None) -> None:
        result = sh(sandbox, command)
        assert (result.exit, result.signal, result.timed_out) == (code, number, False)

    def test_no_such_command_is_not_our_error(self, sandbox: BubblewrapSandbox) -> None:
        result = sandbox.run(Spec(("no-such-command",)))
        assert result.exit == 127
        assert b"no-such-command" in result.stderr

    def test_no_such_directory_is_our_error(self, sandbox: BubblewrapSandbox) -> None:
        with pytest.raises(SandboxError, match="bwrap failed"):
            sandbox.run(Spec(("true",), cwd="/nowhere"))
        assert sh(sandbox, "echo fine").stdout == b"fine\n"

    def test_lies_through_the_first_process(self, sandbox: BubblewrapSandbox) -> None:
        """bwrap's first process can be reached from inside; all that can be forged there is an exit status."""
        script = "for f in /proc/1/fd/*; do printf 'AAAAAAAA' > $f; printf '{\"child-pid\": 1}\\n' > $f; done; exit 3"
        result = sh(sandbox, f"({script}) 2>/dev/null; sleep 1; exit 4")
        assert result.exit is not None or result.signal is not None
        assert sh(sandbox, "echo fine").stdout == b"fine\n"

    def test_streams(self, sandbox: BubblewrapSandbox) -> None:
        result = sh(sandbox, "wc -c; printf '\\377\\376' >&2", stdin=b"x" * 20_000_000)
        assert (result.stdout, result.stderr) == (b"20000000\n", b"\xff\xfe")
        assert sh(sandbox, "exec 0<&-; echo done", stdin=b"x" * 5_000_000).stdout == b"done\n"

    def test_what_is_left_behind_dies(self, sandbox: BubblewrapSandbox) -> None:
        mark = f"7{secrets.randbelow(10**9):09}"
        result = sh(sandbox, f"(setsid sleep {mark} &); echo done; sleep 0.1")
        assert result.stdout == b"done\n"
        assert processes_with(mark) == []


class TestLimits:
    def test_wall(self, sandbox: BubblewrapSandbox) -> None:
        began = time.monotonic()
        result = sh(sandbox, "trap '' TERM; echo x > kept; sleep 60", Limits(wall=0.5), exports=("/work",))
        assert time.monotonic() - began < 5
        assert (result.exit, result.signal, result.timed_out, result.hit) == (None, 9, True, ("wall",))
        assert files_of(result.exports["/work"]) == {"kept": b"x\n"}

    def test_output_in_one_line(self, sandbox: BubblewrapSandbox) -> None:
        result = sh(sandbox, "head -c 200000000 /dev/zero", Limits(output=1000, wall=60))
        assert (len(result.stdout), result.stdout_bytes, result.exit) == (1000, 200_000_000, 0)
        assert result.hit == ("output",)

    def test_memory_of_one(self, sandbox: BubblewrapSandbox) -> None:
        result = sh(sandbox, "python3 -c 'x = bytearray(400 << 20)'", Limits(memory=128 * MIB))
        assert result.exit != 0
        assert result.active["memory"] in ("cgroup", "watchdog")
        if result.active["memory"] == "cgroup":
            assert "memory" in result.hit
        assert sh(sandbox, "echo fine").stdout == b"fine\n"

    @pytest.mark.parametrize("with_cgroup", [True, False])
    def test_memory_of_all(self, toolchain: Toolchain, with_cgroup: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        if not with_cgroup:  # as on a host where none can be made
            monkeypatch.setattr(cgroup, "make_group", lambda: None)
        one_process = "python3 -c 'import time; x = bytearray(b\"x\") * (60 << 20); time.sleep(4)'"
        with BubblewrapSandbox(toolchain) as box:
            began = time.monotonic()
            result = sh(box, f"{one_process} & {one_process} & {one_process} & wait", Limits(memory=150 * MIB))
            if with_cgroup and result.active["memory"] != "cgroup":
                pytest.skip("no memory cgroup can be made here")
            assert result.active["memory"] == ("cgroup" if with_cgroup else "watchdog")
            assert "memory" in result.hit
            if not with_cgroup:
                assert result.signal == 9
                assert time.monotonic() - began < 4

    def test_processes(self, sandbox: BubblewrapSandbox) -> None:
        code = """
import subprocess
started = []
try:
    while True: started.append(subprocess.Popen(["sleep", "30"]))
except BlockingIOError: print(len(started))
"""
        result = sandbox.run(Spec(("python3", "-c", code), limits=Limits(processes=40, wall=30)))
        assert 25 <= int(result.stdout) <= 45
        if result.active["processes"] == "cgroup":
            assert result.hit == ("processes",)

    def test_disk_and_inodes_of_every_place(self, sandbox: BubblewrapSandbox) -> None:
        limits = Limits(disk=2 * MIB, inodes=100, wall=30)
        script = "for d in /work /tmp $HOME /dev/shm; do head -c 9M /dev/zero > $d/f; stat -c %s $d/f; done"
        result = sh(sandbox, f"({script}) 2>/dev/null", limits)
        assert result.stdout == b"2097152\n" * 4
        assert result.hit == ("disk",)
        result = sh(sandbox, "i=0; while touch $i 2>&1; do i=$((i+1)); done; ls | wc -l", limits)
        assert 90 <= int(result.stdout.split()[-1]) <= 100
        assert "inodes" in result.hit

    def test_no_core_and_no_network(self, sandbox: BubblewrapSandbox) -> None:
        code = """
import os, resource, socket, time
assert resource.getrlimit(resource.RLIMIT_CORE) == (1, 1)
began = time.monotonic()
for target in (("192.0.2.1", 80), ("127.0.0.1", 80)):
    try: socket.create_connection(target, 5)
    except OSError: continue
    raise SystemExit("connected")
try: socket.getaddrinfo("example.org", 80)
except OSError: pass
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname())
assert time.monotonic() - began < 2
"""
        result = sandbox.run(Spec(("python3", "-c", code)))
        assert result.exit == 0, result.stderr
