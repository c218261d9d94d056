"""Which mounts of this machine belong to containers of other programs: whoever looks for leftovers must leave them out.

Invariant: only a container that the engine knows, and that does not bear the given label, owns a mount; without an
engine nobody does.
"""

from __future__ import annotations

from collections.abc import Iterable

import docker.errors

from containers.docker_engine import LABEL, connect, engine_errors
from containers.sandbox import SandboxError


def foreign_mounts(label: str, mounts: Iterable[str]) -> set[str]:
    """Those of `mounts` (mount points) that are held by containers without the label; "" is the label of nobody.

    Raises SandboxError when an engine answers and then breaks off.
    """
    looked = list(mounts)
    try:
        client = connect()
    except SandboxError:
        return set()
    with engine_errors("list containers"):
        try:
            others = [c for c in client.api.containers(all=True) if not label or c["Labels"].get(LABEL) != label]
            marks = [mark for entry in others for mark in _marks(client, str(entry["Id"]))]
        finally:
            client.close()
    return {mount for mount in looked if any(mark in mount for mark in marks)}


def _marks(client: docker.DockerClient, container: str) -> list[str]:
    """Texts that the mount points of a container hold; none for one that has gone meanwhile."""
    try:
        said = client.api.inspect_container(container)
    except docker.errors.NotFound:
        return []
    layers = (said.get("GraphDriver") or {}).get("Data") or {}
    space = (said.get("NetworkSettings") or {}).get("SandboxKey") or ""
    name = space.rsplit("/", 1)[-1]
    found = [container, layers.get("MergedDir") or ""]
    return [mark for mark in (*found, f"/netns/{name}" if name and name != "default" else "") if mark]
