"""The docker sandbox beyond the self-check: engine trouble, labels, hardening, hostile first processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import docker as sdk
import pytest

from containers import docker, docker_engine, docker_session
from containers.box import INIT, frames
from containers.docker import DockerSandbox
from containers.docker_wire import Collector, Corrupt, Demux, volume_tar
from containers.probes_base import make_tar
from containers.sandbox import MIB, Limits, Mount, SandboxError, Spec

WORK = {"/work": Mount(writable=True)}


@pytest.fixture
def client(docker_image: str) -> Iterator[sdk.DockerClient]:
    client = docker_engine.connect()
    yield client
    client.close()


def labelled(client: sdk.DockerClient, label: str) -> list[str]:
    return [c["Id"] for c in client.api.containers(all=True, filters={"label": f"{docker_engine.LABEL}={label}"})]


# Without an engine.


def test_no_engine_is_said_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    with pytest.raises(SandboxError) as caught:
        DockerSandbox("image", "label")
    assert caught.value.remedy
    assert "remedy" in (docker.check() or "")


def test_the_profile_denies_families_and_foreign_calls() -> None:
    profile = json.loads(docker_engine.seccomp_profile("x86_64"))
    assert profile["architectures"] == ["SCMP_ARCH_X86_64"]
    families = {rule["args"][0]["value"] for rule in profile["syscalls"] if rule["names"] == ["socket"]}
    assert {17, 38, 40, 31} <= families
    assert not families & {1, 2, 10, 16}
    denied = {name for rule in profile["syscalls"] for name in rule["names"] if "args" not in rule}
    assert {"ptrace", "mount", "unshare", "keyctl", "bpf", "clone3"} <= denied
    with pytest.raises(SandboxError):
        docker_engine.seccomp_profile("vax")


def test_an_empty_label_is_refused() -> None:
    with pytest.raises(ValueError, match="label"):
        docker.sweep("")


# The wire, with a first process that lies.


def collect(*parts: bytes, limits: Limits = Limits()) -> Collector:  # noqa: B008
    collector = Collector(limits, ("/work",))
    for part in parts:
        collector.feed(part)
    return collector


TREE = frames.pack(frames.TREE, b"/work")
GOOD_END: dict[str, object] = {
    "exit": 0,
    "signal": None,
    "timed_out": False,
    "stdout_bytes": 0,
    "stderr_bytes": 0,
    "hit": [],
}


@pytest.mark.parametrize(
    "path", [b"/etc/passwd", b"../up", b"a/../../b", b"a//b", b"", b".", b"sub/.GIT/config", b"nul\0", b"x" * 5000]
)
def test_impossible_paths_are_corrupt(path: bytes) -> None:
    with pytest.raises(Corrupt):
        collect(TREE, frames.pack_file(path, 0o644))


def test_a_name_twice_is_corrupt() -> None:
    with pytest.raises(Corrupt):
        collect(TREE, frames.pack_file(b"a", 0o644), frames.pack_link(b"a", b"/etc"))


def test_more_than_the_caps_is_corrupt() -> None:
    chunk = frames.pack(frames.CHUNK, b"x" * 60_000)
    with pytest.raises(Corrupt):
        collect(TREE, frames.pack_file(b"a", 0o644), *[chunk] * 3, limits=Limits(export_file=100_000))
    many = [frames.pack_file(b"%d" % n, 0o644) for n in range(12)]
    with pytest.raises(Corrupt):
        collect(TREE, *many, limits=Limits(export_files=10))


@pytest.mark.parametrize(
    "end",
    [
        GOOD_END | {"exit": 256}, GOOD_END | {"exit": True}, GOOD_END | {"exit": "0"}, GOOD_END | {"signal": -1},
        GOOD_END | {"hit": ["nonsense"]}, GOOD_END | {"hit": [[]]}, GOOD_END | {"stdout_bytes": -5}, [], {}, None,
    ],
)  # fmt: skip
def test_an_impossible_end_is_corrupt(end: object) -> None:
    with pytest.raises(Corrupt):
        collect(frames.pack(frames.EXIT, json.dumps(end).encode()))


@pytest.mark.parametrize(
    "frame",
    [
        frames.pack(b"?", b"x"),
        frames.HEAD.pack(frames.STDOUT, 1 << 31),
        frames.pack(frames.TREE, b"/elsewhere"),
        frames.pack(frames.CHUNK, b"no file"),
        frames.pack_file(b"no tree", 0o644),
        frames.pack(frames.DROPPED, b"[" * 60_000),
        frames.pack(frames.LINK, b"\x00"),
    ],
)
def test_broken_frames_are_corrupt(frame: bytes) -> None:
    with pytest.raises(Corrupt):
        collect(frame)


def test_frames_may_arrive_byte_by_byte() -> None:
    stream = TREE + frames.pack_file(b"a", 0o755) + frames.pack(frames.CHUNK, b"data") + frames.pack(frames.END)
    collector = collect(*(stream[i : i + 1] for i in range(len(stream))))
    assert collector.done
    assert b"data" in collector.exports()["/work"]


def test_the_two_streams_of_the_engine_are_kept_apart() -> None:
    demux = Demux()
    raw = b"\x01\0\0\0\0\0\0\x03abc" + b"\x02\0\0\0\0\0\0\x05error" + b"\x01\0\0\0\0\0\0\x02de"
    got = b"".join(demux.feed(raw[i : i + 4]) for i in range(0, len(raw), 4))
    assert got == b"abcde"
    assert bytes(demux.trouble) == b"error"


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
def test_a_mount_stays_below_its_path(name: str) -> None:
    with pytest.raises(SandboxError):
        volume_tar({"/task": Mount(make_tar({name: b""}))})


# With an engine.


@pytest.mark.docker
def test_check_and_describe(docker_box: DockerSandbox, docker_image: str) -> None:
    assert docker_box.check() is None
    assert docker_box.describe()["image"] == docker_image


@pytest.mark.docker
def test_a_missing_image_is_said(docker_label: str) -> None:
    with DockerSandbox("no-such-image:none", docker_label) as box:
        assert "image" in (box.check() or "")
        with pytest.raises(SandboxError, match="image"):
            box.run(Spec(command=("true",)))


@pytest.mark.docker
def test_containers_are_hardened(docker_box: DockerSandbox, docker_label: str, client: sdk.DockerClient) -> None:
    spec = Spec(command=("cat",), mounts=WORK | {"/task": Mount(make_tar({"x": b""}))})
    with docker_box.talk(spec):
        running = [client.api.inspect_container(c) for c in labelled(client, docker_label)]
    assert len(running) >= 2
    for info in running:
        host = info["HostConfig"]
        assert host["ReadonlyRootfs"] is True
        assert host["CapDrop"] == ["ALL"]
        assert host["Privileged"] is False
        assert not host["Binds"]
        assert host["Memory"] == host["MemorySwap"] > 0
        assert 0 < host["PidsLimit"] < 1000
        assert info["Config"]["User"] == "1000:1000"
        assert "no-new-privileges" in host["SecurityOpt"]
        assert any(option.startswith("seccomp={") for option in host["SecurityOpt"])
        assert host["NetworkMode"] == "none" or host["NetworkMode"].startswith("container:")
        assert docker_label not in info["Name"]
        # Command, prompt and trees are not in the configuration.
        assert info["Config"]["Cmd"] in (["/bin/cat"], list(INIT))


@pytest.mark.docker
def test_nothing_is_left_after_use(docker_image: str, client: sdk.DockerClient) -> None:
    before = {volume["Name"] for volume in client.api.volumes()["Volumes"] or []}
    with DockerSandbox(docker_image, "test-nothing-left") as box:
        box.run(Spec(command=("true",), mounts=WORK | {"/task": Mount(make_tar({"x": b"1"}))}, exports=("/work",)))
        box.run(Spec(command=("sleep", "60"), limits=Limits(wall=0.5)))
    assert labelled(client, "test-nothing-left") == []
    assert {volume["Name"] for volume in client.api.volumes()["Volumes"] or []} <= before


@pytest.mark.docker
def test_nothing_is_left_of_a_killed_harness(docker_image: str, client: sdk.DockerClient) -> None:
    label = "test-killed-harness"
    code = (
        "import sys; sys.path[:0] = %r\n"
        "from containers.docker import DockerSandbox\nfrom containers.sandbox import Mount, Spec\n"
        "DockerSandbox(%r, %r).run(Spec(command=('sleep', '60'), mounts={'/task': Mount()}))"
    )
    with subprocess.Popen([sys.executable, "-c", code % (sys.path, docker_image, label)]) as harness:
        deadline = time.monotonic() + 20
        while len(client.api.containers(filters={"label": f"{docker_engine.LABEL}={label}"})) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        harness.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while labelled(client, label) and time.monotonic() < deadline:
        time.sleep(0.1)
    # A loader container lives for a moment before the session; what a kill in that moment leaves is for the sweep.
    docker.sweep(label)
    assert labelled(client, label) == []


@pytest.mark.docker
def test_sweep_takes_the_exact_label_only(docker_image: str, client: sdk.DockerClient) -> None:
    made = {}
    for label in ("test-sweep", "test-sweep-2", "TEST-SWEEP"):
        config = {"Image": docker_image, "Cmd": ["true"], "Labels": {docker_engine.LABEL: label}}
        made[label] = client.api.create_container_from_config(config)["Id"]  # type: ignore[no-untyped-call]
    try:
        assert docker.sweep("test-sweep") == 1
        assert labelled(client, "test-sweep") == []
        assert labelled(client, "test-sweep-2") == [made["test-sweep-2"]]
        assert labelled(client, "TEST-SWEEP") == [made["TEST-SWEEP"]]
    finally:
        docker.sweep("test-sweep-2")
        docker.sweep("TEST-SWEEP")


@pytest.mark.docker
def test_a_container_that_somebody_removes_is_our_trouble(
    docker_image: str, docker_label: str, client: sdk.DockerClient
) -> None:
    label = f"{docker_label}-lost"

    def remove_sessions() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            found = client.api.containers(filters={"label": f"{docker_engine.LABEL}={label}"})
            sessions = [c["Id"] for c in found if "cat" not in c["Command"]]
            if sessions:
                time.sleep(0.5)
                client.api.remove_container(sessions[0], force=True)
                return
            time.sleep(0.05)

    with DockerSandbox(docker_image, label) as box:
        remover = threading.Thread(target=remove_sessions)
        remover.start()
        with pytest.raises(SandboxError, match="outside"):
            box.run(Spec(command=("sleep", "15"), limits=Limits(wall=20)))
        remover.join()
        assert box.run(Spec(command=("true",))).exit == 0


@pytest.mark.docker
def test_a_first_process_that_hangs_is_killed_from_outside(
    docker_image: str, docker_label: str, client: sdk.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_session, "_GRACE", 2.0)
    label = f"{docker_label}-hangs"
    with DockerSandbox(docker_image, label) as box:
        spec = Spec(command=("sleep", "60"), mounts=WORK, exports=("/work",), limits=Limits(wall=1))
        with box.talk(spec) as channel:
            (session,) = [c for c in client.containers.list(filters={"label": f"{docker_engine.LABEL}={label}"})
                          if c.attrs["Config"]["Cmd"] == list(INIT)]  # fmt: skip
            session.pause()
            assert channel.receive(1, 20) == b""
            result = channel.close()
    assert result.timed_out
    assert [entry.cap for entry in result.dropped] == [True]
    assert labelled(client, label) == []


STARVE = """
import resource
for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_AS, resource.RLIMIT_CPU):
    try: resource.prlimit(1, what, (0, 0))
    except OSError: pass
open('/work/file', 'w').write('x')
"""


@pytest.mark.docker
def test_starving_the_first_process_is_a_result(docker_box: DockerSandbox) -> None:
    result = docker_box.run(Spec(command=("python3", "-c", STARVE), mounts=WORK, exports=("/work",)))
    assert any(entry.cap for entry in result.dropped) or result.exports["/work"] != b""
    assert docker_box.run(Spec(command=("true",))).exit == 0


@pytest.mark.docker
def test_the_first_process_cannot_be_read_or_traced(docker_box: DockerSandbox) -> None:
    code = """
for name in ('mem', 'environ', 'maps', 'fd'):
    import os
    try: os.listdir('/proc/1/fd') if name == 'fd' else open('/proc/1/' + name, 'rb').read(1)
    except OSError: continue
    print(name, 'can be opened')
"""
    result = docker_box.run(Spec(command=("python3", "-c", code), mounts=WORK))
    assert (result.exit, result.stdout) == (0, b"")


@pytest.mark.docker
def test_full_memory_by_files_is_a_result(docker_box: DockerSandbox) -> None:
    script = "for place in /work /tmp /home/dev; do head -c 100M /dev/zero > $place/x; done; echo survived"
    limits = Limits(memory=96 * MIB, wall=20)
    result = docker_box.run(Spec(command=("sh", "-c", script), mounts=WORK, exports=("/work",), limits=limits))
    assert "memory" in result.hit


@pytest.mark.docker
def test_a_tree_that_does_not_fit_is_our_trouble(docker_box: DockerSandbox) -> None:
    mounts = {"/work": Mount(make_tar({"big": b"x" * 4 * MIB}), writable=True)}
    for sandbox_call in (docker_box.run, docker_box.talk):
        with pytest.raises(SandboxError, match="unpack"):
            sandbox_call(Spec(command=("true",), mounts=mounts, limits=Limits(disk=MIB)))


@pytest.mark.docker
def test_exports_must_be_writable_mounts(docker_box: DockerSandbox) -> None:
    with pytest.raises(ValueError, match="/task"):
        docker_box.run(Spec(command=("true",), mounts={"/task": Mount()}, exports=("/task",)))
