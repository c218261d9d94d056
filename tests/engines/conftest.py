"""What to do where there is no docker engine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from containers.sandbox import Sandbox, SandboxError
from harness.boxes import open_sandbox
from harness.config import load
from harness.outcome import UsageFault

REQUIRE = "DREAMBENCH_REQUIRE_DOCKER"


@pytest.fixture(scope="session")
def docker_box() -> Iterator[Sandbox]:
    """The docker sandbox as a run opens it; nothing with its label is left at the end."""
    from containers import docker

    label = f"engines-{secrets.token_hex(6)}"
    try:
        opened = open_sandbox(load(None, ["sandbox=docker"]), label)
    except (UsageFault, SandboxError) as error:
        if os.environ.get(REQUIRE) == "1":
            pytest.fail(f"{REQUIRE}=1, but docker cannot be used: {error}")
        pytest.skip(f"docker cannot be used: {error}")
    with opened as sandbox:
        yield sandbox
    assert docker.sweep(label) == 0
