"""Containers of the docker sandbox: how they are configured, made, and made to disappear.

Every container is created with `AutoRemove` and an attached input whose end ends its first process, so that a
harness that is killed leaves nothing behind even without clean-up code; the label is for what the engine itself
lost. Sessions join the network namespace of a *pause* container (`network none`, only a loopback device), because
making such a namespace is most of the price of a container start. A pause container serves one session at a time.

Invariant: every container made here carries the label, and `remove` returns only when the container is gone.
"""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import docker
import docker.errors
import requests.exceptions
from docker.types import LogConfig, Ulimit

from containers.box import INIT
from containers.sandbox import MIB, Limits, Mount, SandboxError
from containers.seccomp import DENIED, FAMILIES

LABEL = "dreambench.run"
HOME = "/home/dev"
START_HINT = "start the docker engine (on Debian: .ci/start-docker), and check access to its socket"
ROOM = 48 * MIB  # memory of process 1, on top of what the command may use
RUNTIME_THREADS = 24  # with a lower limit on processes the container runtime cannot start
_GONE_SECONDS = 30.0
_ENGINE_TROUBLE = (docker.errors.DockerException, requests.exceptions.RequestException, OSError)


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn every error of the engine or of the way to it into a SandboxError."""
    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise SandboxError("the sandbox image is not loaded", "build and load the image") from error
    except _ENGINE_TROUBLE as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise SandboxError(f"docker: cannot {doing}: {first}", START_HINT) from error


def connect() -> docker.DockerClient:
    """A client of the engine that the environment names. Raises SandboxError."""
    with engine_errors("reach the engine"):
        client = docker.from_env(timeout=120, version="auto")
        client.ping()
        return client


def seccomp_profile(machine: str) -> str:
    """The profile for an engine on `machine`, as JSON: allow, but the calls and socket families that `seccomp`
    denies; no foreign ABI. Raises SandboxError for a machine without one."""
    if machine not in ("x86_64", "aarch64"):
        raise SandboxError(f"no seccomp profile for an engine on {machine!r}", "use an engine on x86_64 or aarch64")
    column = {"x86_64": 1, "aarch64": 2}[machine]
    names = [entry[0] for entry in DENIED if entry[column] is not None]

    def deny(call: str, errno: int, *args: tuple[int, int, str]) -> dict[str, object]:
        tests = [{"index": i, "value": value, "valueTwo": value, "op": op} for i, value, op in args]
        return {"names": [call], "action": "SCMP_ACT_ERRNO", "errnoRet": errno, "args": tests}

    rules: list[dict[str, object]] = [{"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]
    rules.append({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38})
    # One rule per flag and family: several tests of one argument in one rule would have to hold together.
    for flag in (1 << bit for bit in (7, 17, 25, 26, 27, 28, 29, 30)):
        if flag > 0xFF:  # the low byte of clone's flags is the exit signal
            rules.append(deny("clone", 1, (0, flag, "SCMP_CMP_MASKED_EQ")))
    for request in (0x5412, 0x541C):  # typing into a terminal
        rules.append(deny("ioctl", 1, (1, request, "SCMP_CMP_EQ")))
    for family in sorted(set(range(46)) - set(FAMILIES)):
        rules.append(deny("socket", 97, (0, family, "SCMP_CMP_EQ")))
    rules.append(deny("socket", 97, (0, 45, "SCMP_CMP_GT")))
    arch = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}[machine]
    return json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "architectures": [arch], "syscalls": rules})


@dataclass
class Attached:
    """A running container and the socket to the standard streams of its first process."""

    id: str
    socket: socket.socket
    keeper: Any  # the SDK's object that owns the connection

    def hang_up(self) -> None:
        """End the container's input, and with it the container."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the container ended first
        self.keeper.close()
        self.socket.close()


class Engine:
    """The operations on containers that the sandbox needs. Safe to use from several threads."""

    def __init__(self, client: docker.DockerClient, image: str, label: str) -> None:
        if not label:
            raise ValueError("an empty label would match the containers of other runs")
        self.client = client
        self.api = client.api
        self.image = image
        self.label = label
        with engine_errors("ask what the engine can do"):
            info = client.info()
        self.profile = seccomp_profile(str(info.get("Architecture", "")))
        self.memory_limited = bool(info.get("MemoryLimit"))
        self.processes_limited = bool(info.get("PidsLimit"))
        self._closed = False
        self._idle: list[Attached] = []
        self._lock = threading.Lock()

    # Pause containers.

    @contextmanager
    def network(self) -> Iterator[str]:
        """The id of a pause container that nobody else uses meanwhile."""
        with self._lock:
            pause = self._idle.pop() if self._idle else None
        if pause is None or not self._alive(pause):
            pause = self.start_owner(["/bin/cat"])
        try:
            yield pause.id
        finally:
            with self._lock:
                if not self._closed:
                    self._idle.append(pause)
            if self._closed:
                self.end(pause)

    def _alive(self, pause: Attached) -> bool:
        try:
            return bool(self.api.inspect_container(pause.id)["State"]["Running"])
        except docker.errors.NotFound:
            return False

    def start_owner(self, command: list[str], *mounts: dict[str, Any]) -> Attached:
        """A container that owns a network namespace with only a loopback device; it ends with its input."""
        host = self._hardened(Limits(memory=16 * MIB, disk=MIB, inodes=16), ())
        host |= {"NetworkMode": "none", "Dns": ["127.0.0.1"], "DnsSearch": ["."], "Mounts": list(mounts)}
        return self.start(self._create(host, command, {"Hostname": "box"}))

    @property
    def is_local(self) -> bool:
        """Whether it is reached over a socket of this machine, so that it can mount files of it."""
        return str(self.api.base_url).startswith("http+docker")

    # Session containers.

    def create(self, limits: Limits, writable: tuple[str, ...], network: str, loader: str | None, image: str) -> str:
        """Make a session container, not started; `loader` lends its volumes read-only. Returns its id."""
        host = self._hardened(limits, writable)
        host["NetworkMode"] = f"container:{network}"
        if loader:
            host["VolumesFrom"] = [f"{loader}:ro"]
        return self._create(host, list(INIT), {"Image": image})

    def load_volumes(self, mounts: tuple[str, ...], tar: bytes) -> str:
        """A container that never starts and owns one volume for each of `mounts`, filled from `tar`."""
        host = {"NetworkMode": "none"}
        loader = self._create(host, ["/bin/true"], {"Volumes": {path: {} for path in mounts}})
        self.api.put_archive(loader, "/", tar)
        return loader

    def start(self, container: str) -> Attached:
        """Attach to the streams, then start."""
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        keeper = self.api.attach_socket(container, params=params)
        raw = getattr(keeper, "_sock", keeper)
        attached = Attached(container, raw, keeper)
        try:
            self.api.start(container)
        except BaseException:
            attached.hang_up()
            self.remove(container)
            raise
        return attached

    def terminate(self, container: str) -> None:
        """Ask process 1 to end the run and export; does nothing when the container has ended already."""
        try:
            self.api.kill(container, signal="SIGTERM")
        except docker.errors.APIError as error:
            if error.status_code not in (404, 409):
                raise

    def fate(self, container: str, since: float) -> set[str]:
        """How a container died since that time (seconds since the epoch): a set of "oom" and "killed", where
        killed means by somebody through the engine. Waits up to two seconds for the engine to know."""
        for _ in range(20):
            now = time.time()
            events = self.api.events(
                since=int(since) - 1, until=int(now) + 1, filters={"container": container}, decode=True
            )
            seen = [(event.get("Action", ""), event.get("Actor", {}).get("Attributes", {})) for event in events]
            if any(action == "die" for action, _ in seen):
                killed = any(action == "kill" and values.get("signal") == "9" for action, values in seen)
                return {"oom"} & {action for action, _ in seen} | ({"killed"} if killed else set())
            time.sleep(0.1)
        return set()

    def remove(self, container: str) -> None:
        """Kill and remove with volumes; returns when the engine no longer knows the container."""
        deadline = time.monotonic() + _GONE_SECONDS
        while True:
            try:
                self.api.remove_container(container, v=True, force=True)
                return
            except docker.errors.NotFound:
                return
            except docker.errors.APIError as error:
                # 409: the engine is removing it right now, because its first process ended.
                if error.status_code != 409 or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)

    def close(self) -> None:
        """End the pause containers and the connection."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._closed = True
        for pause in idle:
            self.end(pause)
        self.client.close()

    def end(self, container: Attached) -> None:
        """Hang up and remove it."""
        container.hang_up()
        self.remove(container.id)

    def _create(self, host: dict[str, Any], command: list[str], extra: dict[str, Any]) -> str:
        config = {
            "Image": self.image,
            "Cmd": command,
            "User": "1000:1000",
            "Env": ["LANG=C.UTF-8", "TZ=UTC"],
            "Labels": {LABEL: self.label},
            "HostConfig": host,
            **dict.fromkeys(("OpenStdin", "StdinOnce", "AttachStdin", "AttachStdout", "AttachStderr"), True),
            **extra,
        }
        made = self.api.create_container_from_config(  # type: ignore[no-untyped-call]
            config, f"box-{secrets.token_hex(8)}"
        )
        return str(made["Id"])

    def _hardened(self, limits: Limits, writable: tuple[str, ...]) -> dict[str, Any]:
        quota = f"rw,exec,nosuid,nodev,size={limits.disk},nr_inodes={limits.inodes},uid=1000,gid=1000"
        memory = limits.memory + ROOM
        return {
            "AutoRemove": True,
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges", f"seccomp={self.profile}"],
            "PidsLimit": max(limits.processes, RUNTIME_THREADS) + 1,
            "Memory": memory,
            "MemorySwap": memory,
            "Ulimits": [Ulimit(name="core", soft=1, hard=1), Ulimit(name="nofile", soft=1024, hard=4096)],
            "Tmpfs": {path: f"{quota},mode={1777 if path == '/tmp' else 755}" for path in writable},
            "IpcMode": "none",
            "CgroupnsMode": "private",
            "LogConfig": LogConfig(type="none"),
        }


def sweep(label: str, client: docker.DockerClient | None = None) -> int:
    """Remove every container (with volumes) whose label is exactly `label`; returns how many there were."""
    if not label:
        raise ValueError("an empty label would match the containers of other runs")
    own = client or connect()
    try:
        with engine_errors("sweep"):
            found = own.api.containers(all=True, filters={"label": f"{LABEL}={label}"})
            mine = [entry["Id"] for entry in found if entry["Labels"].get(LABEL) == label]
            engine = Engine(own, "", label)
            for container in mine:
                engine.remove(container)
            return len(mine)
    finally:
        if client is None:
            own.close()


def volume_mounts(mounts: dict[str, Mount]) -> tuple[str, ...]:
    """The paths of read-only mounts."""
    return tuple(path for path, mount in mounts.items() if not mount.writable)
