"""Layers in docker: an image is the sandbox's own with one more layer, made from the directory of the cache.

Invariant: the image is a function of the base image and the files of the layer: owner, order, modes and times in the
tar are constants. An index that exists names an image whose archive was finished.
"""

from __future__ import annotations

import os
import stat
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import IO

import docker

from containers.docker_engine import engine_errors
from containers.image import EPOCH, build_image, load_image
from containers.layer import LAYER, Layer
from containers.sandbox import SandboxError

_AGAIN = "start again: it is built anew"


class LayerImages:
    """Ids of the images that show a layer, built and loaded when first asked for. Safe from several threads.

    `base` is the image without a layer, built in `cache`; with None for `cache` there are no others.
    """

    def __init__(self, client: docker.DockerClient, base: str, cache: Path | None) -> None:
        self._client, self._base, self._cache = client, base, cache
        self._lock = threading.Lock()
        self._ready: dict[str, str] = {}

    def image(self, layer: Layer | None) -> str:
        """The image for sessions with `layer`. Raises SandboxError when it cannot be built or loaded."""
        if layer is None:
            return self._base
        with self._lock:
            if layer.digest not in self._ready:
                self._ready[layer.digest] = self._load(layer)
            return self._ready[layer.digest]

    def _load(self, layer: Layer) -> str:
        if self._cache is None:
            raise SandboxError("docker: this sandbox has no cache for images with a layer", "give it the cache")
        with engine_errors("load an image with a layer"):
            base = str(self._client.images.get(self._base).id)
        try:
            archive = _archive(self._cache, base, layer)
        except OSError as error:
            raise SandboxError(f"an image with a layer cannot be built: {error.strerror or error}") from error
        with engine_errors("load an image with a layer"):
            return load_image(self._client, archive)


def _archive(cache: Path, base: str, layer: Layer) -> Path:
    """The archive of `base` with `layer`, built unless the index knows it. `base` is a full id."""
    images = cache / "images"
    index = images / f"layer-{base.removeprefix('sha256:')[:16]}-{layer.digest[:16]}"
    if index.is_file() and (known := images / index.read_text()).is_file():
        return known
    if build_image(cache).id != base:
        raise SandboxError("docker: the image is not the one of this cache", "use the one that is built there")
    with tempfile.TemporaryDirectory(prefix=".building-", dir=images) as scratch:
        tar = Path(scratch, "layer.tar")
        with tar.open("wb") as out:
            write_tar(layer.directory, out)
        archive = build_image(cache, (tar,)).archive
        note = Path(scratch, "index")
        note.write_text(archive.name)
        os.replace(note, index)
    return archive


def write_tar(directory: Path, out: IO[bytes]) -> None:
    """What is below `directory` as a tar stream at the layer's path inside, in a fixed order, owned by root.

    Raises SandboxError when the directory is gone.
    """
    if not directory.is_dir():
        raise SandboxError("a layer is gone from the cache", _AGAIN)
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, directory, LAYER.lstrip("/"))


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    info = path.lstat()
    member = tarfile.TarInfo(name)
    member.mtime = EPOCH
    if stat.S_ISLNK(info.st_mode):
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
        tar.addfile(member)
    elif stat.S_ISDIR(info.st_mode):
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(member)
        for entry in sorted(os.listdir(path), key=os.fsencode):
            _add(tar, path / entry, f"{name}/{entry}")
    else:
        member.size, member.mode = info.st_size, 0o755 if info.st_mode & stat.S_IXUSR else 0o644
        with path.open("rb") as stream:
            tar.addfile(member, stream)
