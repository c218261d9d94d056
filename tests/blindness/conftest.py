"""The runs of the aliased mini trap that the tests of this folder look at; that of the real traps is shared."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from containers.sandbox import SandboxError
from harness.outcome import UsageFault

from .blindness_runs import Aliased, play_aliased
from .blindness_world import World, build


@pytest.fixture(scope="session")
def aliased(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aliased]:
    """One run of the aliased world, by a probe, in a process whose own surroundings are sentinels too."""
    with _world(tmp_path_factory) as world:
        yield play_aliased(world)


@pytest.fixture(scope="session")
def aliased_docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aliased]:
    """The same in docker, in one condition."""
    with _world(tmp_path_factory) as world:
        try:
            played = play_aliased(world, "docker", ("ALL",))
        except (UsageFault, SandboxError) as error:
            if os.environ.get("DREAMBENCH_REQUIRE_DOCKER") == "1":
                pytest.fail(f"DREAMBENCH_REQUIRE_DOCKER=1, but docker cannot be used: {error}")
            pytest.skip(f"docker cannot be used: {error}")
        yield played


@contextmanager
def _world(factory: pytest.TempPathFactory) -> Iterator[World]:
    world = build(factory.mktemp("world"), 10**15 + secrets.randbelow(9 * 10**15))
    standing = world.base / world.names["standing"]
    standing.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DREAMBENCH_NOTE", world.names["environment"])
        patch.setenv("USER", world.names["user"])
        patch.setenv("LOGNAME", world.names["user"])
        patch.chdir(standing)
        yield world
