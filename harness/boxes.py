"""Open the sandbox a configuration names, ready to use.

Invariant: there is no way to run without isolation; when the named sandbox cannot work, the reason and the remedy are
said and nothing is started.
"""

from __future__ import annotations

from containers.bubblewrap import BubblewrapSandbox
from containers.bubblewrap import check as check_bubblewrap
from containers.sandbox import Sandbox, SandboxError
from containers.toolchain import build_toolchain
from harness.config import RunConfig
from harness.outcome import UsageFault


def open_sandbox(config: RunConfig, label: str) -> Sandbox:
    """The sandbox, with its toolchain or image built if it is not cached. Raises UsageFault with the remedy."""
    try:
        if config.sandbox == "docker":
            return _docker(config, label)
        if problem := check_bubblewrap():
            raise UsageFault(f"bubblewrap: {problem}")
        return BubblewrapSandbox(build_toolchain(config.cache_dir))
    except SandboxError as error:
        raise UsageFault(f"{config.sandbox}: {error}") from error


def _docker(config: RunConfig, label: str) -> Sandbox:
    from containers.docker import DockerSandbox
    from containers.image import ensure_image

    return DockerSandbox(ensure_image(config.cache_dir), label, config.cache_dir)
