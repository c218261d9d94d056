"""Both sandboxes answer every probe rightly, and a sandbox that is none fails many of them."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from containers import selfcheck
from containers.probes_base import Bench, Probe
from containers.sandbox import Channel, Dropped, Mount, Result, Sandbox, SandboxError, Spec

IDS = [probe.name for probe in selfcheck.PROBES]


def bench(box: Sandbox, cache: Path) -> Bench:
    return Bench(box, selfcheck.host_strings(cache), selfcheck.starter_of(box))


@pytest.fixture(scope="module")
def bubblewrap_bench(bubblewrap_box: Sandbox, cache: Path) -> Bench:
    return bench(bubblewrap_box, cache)


@pytest.fixture(scope="module")
def docker_bench(docker_box: Sandbox, cache: Path) -> Bench:
    return bench(docker_box, cache)


def ask(probe: Probe, bench: Bench) -> None:
    result = selfcheck.check_one(probe, bench)
    assert result.seen is None, f"{probe.meaning}: {result.seen}"


@pytest.mark.parametrize("probe", selfcheck.PROBES, ids=IDS)
def test_bubblewrap(probe: Probe, bubblewrap_bench: Bench) -> None:
    ask(probe, bubblewrap_bench)


@pytest.mark.docker
@pytest.mark.parametrize("probe", selfcheck.PROBES, ids=IDS)
def test_docker(probe: Probe, docker_bench: Bench) -> None:
    ask(probe, docker_bench)


TREE = """
import os, socket
os.makedirs('a/b'); os.mkdir('a-b'); os.mkdir('empty')
for name in ('a/b/run', 'a/x', 'a-b/y', 'z\\udcff', 'new\\nline', 'private'): open(name, 'w').write(name[0] * 100)
os.chmod('a/b/run', 0o711); os.chmod('private', 0); os.symlink('/etc/passwd', 'link'); os.link('a/x', 'hard')
os.makedirs('sub/.git'); os.mkfifo('fifo'); socket.socket(socket.AF_UNIX).bind('socket')
open('big', 'wb').truncate(1 << 30)
"""


@pytest.mark.docker
def test_both_export_the_same_bytes(bubblewrap_box: Sandbox, docker_box: Sandbox) -> None:
    spec = Spec(command=("python3", "-c", TREE), mounts={"/work": Mount(writable=True)}, exports=("/work",))
    one, two = bubblewrap_box.run(spec), docker_box.run(spec)
    assert one.exit == two.exit == 0, (one.stderr, two.stderr)
    assert one.exports == two.exports
    assert {(entry.path, entry.cap) for entry in one.dropped} == {(entry.path, entry.cap) for entry in two.dropped}
    assert set(one.active) == set(two.active)


class NoSandbox:
    """Plain subprocesses in a directory of the host: what the self-check is there to find out."""

    name = "none"

    @property
    def python(self) -> str:
        return "3.11"

    def describe(self) -> Mapping[str, str]:
        return {"sandbox": "none", "where": os.getcwd()}

    def run(self, spec: Spec) -> Result:
        with tempfile.TemporaryDirectory() as work:
            timed_out = False
            try:
                done = subprocess.run(spec.command, input=spec.stdin, cwd=work, capture_output=True, timeout=3)
                code, out, err = done.returncode, done.stdout, done.stderr
            except subprocess.TimeoutExpired as error:
                timed_out, code, out, err = True, -9, error.stdout or b"", error.stderr or b""
            except OSError as error:
                raise SandboxError(str(error)) from error
            stream = io.BytesIO()
            with tarfile.open(fileobj=stream, mode="w") as tar:
                tar.add(work, ".")
        return Result(
            exit=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            timed_out=timed_out,
            stdout=out,
            stderr=err,
            exports={path: stream.getvalue() for path in spec.exports},
            dropped=(Dropped("x", "nothing"),),
        )

    def talk(self, spec: Spec) -> Channel:
        raise SandboxError("no channel")

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


#: One for each promise that plain processes break. Only probes that change nothing outside of their working
#: directory: others would bomb, fill or litter the host that runs this test.
LEAKS = [
    "user", "environment", "hostname", "own-processes", "capabilities", "network-devices", "first-process",
    "host-traces", "host-files", "descriptors", "output-flood", "active-limits", "export-git", "export-specials",
    "export-file-cap", "talk-echo", "describe", "nothing-left-close", "not-executable", "read-only-mount",
    "tools",
]  # fmt: skip
ANSWERED = ["exit-code", "stderr-apart", "raw-bytes", "arguments"]


def test_plain_processes_fail() -> None:
    words = selfcheck.host_strings()
    results = {r.name: r for r in selfcheck.run_selfcheck(NoSandbox(), LEAKS, words)}
    passed = [name for name in LEAKS if results[name].passed]
    # The number of leaks depends on the host (root or not, in a container or not); most are found anywhere.
    assert len(passed) <= 3, f"found nothing wrong: {passed}"
    assert {"describe", "talk-echo", "host-traces", "output-flood", "nothing-left-close"}.isdisjoint(passed)


def test_nothing_harmful_is_tried_where_nothing_isolates() -> None:
    harmful = [probe.name for probe in selfcheck.PROBES if probe.harmful]
    assert {"kill-everything", "fork-bomb", "disk-flood", "writable-places", "system-calls"} <= set(harmful)
    for result in selfcheck.run_selfcheck(NoSandbox(), harmful):
        assert (result.seen or "").startswith("not tried"), result


def test_plain_processes_pass_what_they_can() -> None:
    results = selfcheck.run_selfcheck(NoSandbox(), ANSWERED)
    assert [r.name for r in results if not r.passed] == []


def test_at_least_forty_distinct_probes() -> None:
    assert len(IDS) == len(set(IDS)) >= 40
    assert all(probe.meaning for probe in selfcheck.PROBES)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no-such"):
        selfcheck.run_selfcheck(NoSandbox(), ["no-such"])


def test_an_error_of_the_sandbox_is_a_failed_probe() -> None:
    (result,) = selfcheck.run_selfcheck(NoSandbox(), ["missing-command"])
    assert not result.passed
    assert "SandboxError" in (result.seen or "")


def test_forbidden_words_are_telling(tmp_path: Path) -> None:
    words = selfcheck.host_strings(tmp_path)
    assert str(tmp_path) in words
    assert all(len(word) >= 4 for word in words)
    assert "/root" not in words
