"""The docker sandbox: one container start a session, driven by the first process that is baked into the image.

    writable mounts, /tmp, HOME   tmpfs with a quota on bytes and inodes, filled and exported by process 1
    read-only mounts              volumes filled before the start (owned by root) and joined read-only
    memory, processes             control group of the container
    wall, output                  process 1; the harness has a later deadline of its own and kills then

Nothing is ever executed into a container that lives. Command, environment and trees travel over the attached
streams, so they appear in no configuration and no process list of the engine.

Invariant: that of the protocol; whatever the command does, including killing process 1 by exhausting the
container, is a Result, and only a fault of the engine or of the harness is a SandboxError.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from containers.docker_engine import Engine, connect, engine_errors, sweep
from containers.docker_layer import LayerImages
from containers.docker_session import Session
from containers.sandbox import Result, SandboxError, Spec


def check() -> str | None:
    """None when an engine answers, else the reason and the remedy in one line."""
    try:
        connect().close()
    except SandboxError as error:
        return str(error)
    return None


class DockerSandbox:
    """Runs in containers of `image` (an id or tag that the engine has); `label` marks all of them.

    `cache` is where `image` was built; images with a layer are built there too, and without it no layer can be shown.
    Raises SandboxError when no engine answers. `label` must not be empty and should be unique for a run.
    """

    name = "docker"

    def __init__(self, image: str, label: str, cache: Path | None = None) -> None:
        self.image = image
        self.label = label
        self.engine = Engine(connect(), image, label)
        self._layers = LayerImages(self.engine.client, image, cache)

    def check(self) -> str | None:
        """None when a command runs in a container, else the reason and the remedy in one line."""
        try:
            with engine_errors("look at the image"):
                self.engine.client.images.get(self.image)
            result = self.run(Spec(command=("true",), cwd="/"))
        except SandboxError as error:
            return str(error)
        return None if result.exit == 0 else f"`true` ended with {result.exit} in a container"

    @cached_property
    def python(self) -> str:
        """Minor version of the interpreter inside, as "3.11". Starts a container the first time."""
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        result = self.run(Spec(command=("python3", "-c", code), cwd="/"))
        if result.exit != 0:
            raise SandboxError(f"the interpreter of the image ended with {result.exit}")
        return result.stdout.decode().strip()

    def describe(self) -> Mapping[str, str]:
        """Engine and image, for the record."""
        with engine_errors("ask for the version"):
            version = self.engine.api.version()
            image = self.engine.client.images.get(self.image).id
        return {
            "sandbox": self.name,
            "engine": str(version["Version"]),
            "api": str(version["ApiVersion"]),
            "kernel": str(version.get("KernelVersion", "")),
            "image": str(image),
        }

    def run(self, spec: Spec) -> Result:
        """See `Sandbox.run`."""
        with Session(self.engine, spec, False, self._layers.image(spec.layer)) as session:
            session.exchange()
            return session.result()

    def talk(self, spec: Spec) -> DockerChannel:
        """See `Sandbox.talk`."""
        if spec.stdin:
            raise ValueError("talk takes no stdin: send it")
        session = Session(self.engine, spec, True, self._layers.image(spec.layer))
        with ExitStack() as failed:
            failed.enter_context(session)
            session.wait_started()
            failed.pop_all()
        return DockerChannel(session)

    def sweep(self) -> int:
        """Remove containers with this label, also those of a harness that is dead; returns how many."""
        return sweep(self.label, self.engine.client)

    def close(self) -> None:
        """See `Sandbox.close`."""
        with engine_errors("close"):
            self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class DockerChannel:
    """See `Channel`. One thread may send while another receives."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._result: Result | None = None

    def send(self, data: bytes) -> None:
        """See `Channel.send`."""
        session = self._session
        with self._lock:
            self._open()
            session.queue(data)
        while True:
            with self._lock:
                if session.ended or self._result is not None:
                    raise BrokenPipeError("the sandbox has ended")
                if not session.sending:
                    return
                session.step(0.05)

    def receive(self, size: int, timeout: float) -> bytes:
        """See `Channel.receive`."""
        deadline = time.monotonic() + timeout
        while True:
            with self._lock:
                data = self._session.collector.stdout
                if data:
                    part = bytes(data[:size])
                    del data[:size]
                    return part
                if self._session.ended or self._session.collector.end:
                    return b""
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"nothing came within {timeout} s")
                self._session.exchange(time.monotonic() + min(left, 0.05))

    def close(self) -> Result:
        """See `Channel.close`."""
        with self._lock:
            if self._result is None:
                try:
                    self._finish()
                    self._result = self._session.result()
                finally:
                    self._session.free()
            return self._result

    def _finish(self) -> None:
        session = self._session
        if not session.ended:
            session.stop()
            session.exchange()

    def _open(self) -> None:
        if self._result is not None:
            raise BrokenPipeError("the channel is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


__all__ = ["DockerChannel", "DockerSandbox", "check", "sweep"]
