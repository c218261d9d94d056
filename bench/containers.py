"""A bare container life cycle with the docker SDK: create, copy in, start, wait, copy out, remove; nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import docker

from containers.image import ensure_image
from harness.config import RunConfig


@contextmanager
def bare_container(config: RunConfig) -> Iterator[Callable[[bytes], object]]:
    """A function that runs one no-op life cycle with a tree in and out, in the empty network namespace of a pause."""
    client = docker.from_env()
    image = ensure_image(config.cache_dir)
    pause = client.containers.run(image, ["sleep", "3600"], detach=True, network_mode="none", entrypoint=[])

    def cycle(tree: bytes) -> None:
        box = client.containers.create(
            image,
            ["python3", "-c", "pass"],
            entrypoint=[],
            volumes=["/work"],
            network_mode=f"container:{pause.id}",
            working_dir="/work",
        )
        try:
            box.put_archive("/work", tree)
            box.start()
            box.wait()
            stream, _ = box.get_archive("/work")
            for _ in stream:
                pass
        finally:
            box.remove(v=True, force=True)

    try:
        yield cycle
    finally:
        pause.remove(v=True, force=True)
        client.close()
