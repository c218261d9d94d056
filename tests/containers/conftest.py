"""Sandboxes for the tests of this room, and what to do where there is no docker engine.

The docker image comes from the user's cache, so it is built once a machine and not once a run of the tests.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from containers.relay import Patience
from containers.sandbox import Sandbox, SandboxError
from harness.config import load

from .relay_kit import EAGER, Bench, Model, Reply, chat_upstream

REQUIRE = "DREAMBENCH_REQUIRE_DOCKER"


def without(reason: str) -> None:
    """Skip for a lacking engine, unless the environment says that an engine is required."""
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{REQUIRE}=1, but docker cannot be used: {reason}")
    pytest.skip(f"docker cannot be used: {reason}")


@pytest.fixture(scope="session")
def cache() -> Path:
    """The cache of toolchains and images that the harness uses too."""
    return load(None).cache_dir


@pytest.fixture(scope="session")
def docker_image(cache: Path) -> str:
    """Id of the loaded image."""
    from containers import docker, image

    if problem := docker.check():
        without(problem)
    try:
        return image.ensure_image(cache)
    except SandboxError as error:
        without(str(error))
        raise


@pytest.fixture(scope="session")
def docker_label(docker_image: str) -> Iterator[str]:
    """A label for the containers of this run of the tests; nothing with it is left at the end."""
    from containers import docker

    label = f"tests-{secrets.token_hex(6)}"
    yield label
    assert docker.sweep(label) == 0


@pytest.fixture(scope="session")
def docker_box(docker_image: str, docker_label: str) -> Iterator[Sandbox]:
    """One docker sandbox for all tests of this room."""
    from containers.docker import DockerSandbox

    with DockerSandbox(docker_image, docker_label) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def bubblewrap_box(cache: Path) -> Iterator[Sandbox]:
    """One bubblewrap sandbox for all tests of this room."""
    from containers import bubblewrap
    from containers.toolchain import build_toolchain

    if problem := bubblewrap.check():
        pytest.fail(problem)
    with bubblewrap.BubblewrapSandbox(build_toolchain(cache)) as sandbox:
        yield sandbox


@pytest.fixture
def make_relay(bubblewrap_box: Sandbox, tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """`make_relay(*replies)`: a relay before a model that gives these replies, and a sandbox to ask it from."""
    from containers.relay import Relay

    with ExitStack() as stack:

        def make(*replies: Reply, patience: Patience = EAGER, models: tuple[str, ...] = ()) -> Bench:
            model = stack.enter_context(Model(*replies))
            relay = stack.enter_context(Relay(chat_upstream(model, models=models), patience))
            return Bench(bubblewrap_box, model, relay, tmp_path)

        yield make
