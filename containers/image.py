"""Build the docker image of the sandbox from distribution packages: no registry, no Dockerfile, no engine.

`build_image` makes a root file system with mmdebstrap from the host's own apt sources, adds one small layer with
the first process (`containers/box`), and packs both as a docker-archive. Everything in the archive is a
function of the package versions and of that file: no build time, no host name, no path of the host.

Invariant: equal root file system and equal first process give the same image id on every machine; an archive that
exists in the cache was finished (it is renamed into place) and its id is the digest of the configuration inside.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import docker
import docker.errors

from containers.box import INIT
from containers.docker_engine import connect, engine_errors
from containers.sandbox import AGENT, MEMORY, TASK, TOOLS, WORK, SandboxError

#: One date for everything that needs one (2025-01-01), seconds since the epoch.
EPOCH = 1735689600
CREATED = "2025-01-01T00:00:00Z"
PACKAGES = ("python3-minimal", "python3", "python3-pytest", "git", "ca-certificates")
TAG = "dreambench-box"
BUILD_SECONDS = 1800
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_NO_DOCS = tuple(f"path-exclude=/usr/share/{name}/*" for name in ("doc", "man", "locale", "info", "lintian"))

#: Run on the host with $1 = the new root; only plain file operations, so they work without root as well.
_HOOK = rf"""
set -eu
root=$1
for place in {WORK} {TASK} {AGENT} {MEMORY} {TOOLS}/bin /home/dev /usr/libexec/box; do mkdir -p "$root$place"; done
chown 1000:1000 "$root/home/dev"
echo 'dev:x:1000:1000::/home/dev:/bin/sh' >> "$root/etc/passwd"
echo 'dev:x:1000:' >> "$root/etc/group"
ln -s /usr/bin/python3 "$root{TOOLS}/bin/python"
ln -s /usr/bin/python3 "$root{TOOLS}/bin/python3"
ln -s /usr/bin/pytest "$root{TOOLS}/bin/pytest"
find "$root" -xdev -type f -perm /6000 -exec chmod ug-s {{}} +
rm -rf "$root"/etc/resolv.conf "$root"/etc/hostname "$root"/etc/apt/sources.list* "$root"/etc/apt/auth.conf*
rm -rf "$root"/var/log/* "$root"/var/cache/* "$root"/var/lib/apt/lists "$root"/etc/passwd- "$root"/etc/group-
: > "$root/etc/machine-id"
"""


@dataclass(frozen=True)
class Image:
    """A finished docker-archive: where it is, the id that the engine will give it, and its tag."""

    archive: Path
    id: str
    tag: str


def install_hint() -> str:
    """What a person types to get the tool that builds the image."""
    return "apt-get install -y mmdebstrap (as a normal user also: fakechroot fakeroot)"


def build_image(cache: Path, extra: Sequence[Path] = ()) -> Image:
    """The image for this machine, built when `cache` has none (about 30 s and 220 MB the first time).

    The root file system is kept per recipe, the archive per content, so that a changed first process costs a
    second and not a rebuild. `extra` are tar files that lie above it, in order. Raises SandboxError when mmdebstrap
    is missing or fails.
    """
    rootfs = _rootfs(cache)
    layers: tuple[Path | bytes, ...] = (rootfs, _init_layer(), *extra)
    return _archive(cache, layers)


def load_image(client: docker.DockerClient, archive: Path) -> str:
    """Load `archive` into the engine of `client` unless it is there; returns the id."""
    image_id, tag = _identity(archive)
    try:
        if client.images.get(tag).id == image_id:
            return image_id
    except docker.errors.ImageNotFound:
        pass
    with archive.open("rb") as stream:
        loaded = [image.id for image in client.images.load(stream)]
    if image_id not in loaded:
        raise SandboxError(f"the engine loaded {loaded} from an archive of {image_id}", f"delete {archive}")
    return image_id


def ensure_image(cache: Path) -> str:
    """Build (when not cached) and load (when not loaded) the image; returns its id. Raises SandboxError."""
    image = build_image(cache)
    client = connect()
    try:
        with engine_errors("load the image"):
            return load_image(client, image.archive)
    finally:
        client.close()


def recipe() -> str:
    """Digest of everything that this file decides about the root file system (16 hex digits)."""
    parts = [PACKAGES, _NO_DOCS, _HOOK, EPOCH, _suite(), platform.machine()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _suite() -> str:
    """Code name of the host's distribution; its own sources serve the packages."""
    release = platform.freedesktop_os_release()
    if name := release.get("VERSION_CODENAME"):
        return name
    raise SandboxError("the image is built from apt sources, and this host has none", "build it on Debian or Ubuntu")


def _sources() -> list[str]:
    """The host's files of distribution packages; other sources there need keys that the new root lacks."""
    names = ("sources.list", "sources.list.d/debian.sources", "sources.list.d/ubuntu.sources")
    files = [Path("/etc/apt", name) for name in names]
    found = [str(f) for f in files if f.is_file() and any(_is_entry(line) for line in f.read_text().splitlines())]
    return found[-1:]


def _is_entry(line: str) -> bool:
    return line.startswith(("deb ", "Types:"))


def _rootfs(cache: Path) -> Path:
    place = cache / "rootfs" / recipe()
    final = place / "rootfs.tar"
    if final.exists():
        return final
    place.mkdir(parents=True, exist_ok=True)
    # A private directory, so that two builds at once do not write one file; the last rename wins.
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        target = Path(scratch, "rootfs.tar")
        _mmdebstrap(target, Path(scratch))
        target.rename(final)
    return final


def _mmdebstrap(target: Path, scratch: Path) -> None:
    tool = shutil.which("mmdebstrap")
    if tool is None:
        raise SandboxError("mmdebstrap is not installed", install_hint())
    hook = scratch / "hook.sh"
    hook.write_text(_HOOK)
    command = [tool, "--quiet", "--variant=minbase", "--format=tar"]
    command.append("--mode=root" if os.geteuid() == 0 else "--mode=auto")
    command += ["--aptopt=APT::Install-Recommends false", "--include=" + ",".join(PACKAGES)]
    command += [f"--dpkgopt={option}" for option in _NO_DOCS]
    command += [f'--customize-hook=sh {hook} "$1"', _suite(), str(target), *_sources()]
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": str(EPOCH)}
    env |= {key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        raise SandboxError(f"mmdebstrap took longer than {BUILD_SECONDS} s", "check the apt mirror") from None
    if done.returncode != 0:
        last = " | ".join(done.stderr.strip().splitlines()[-4:])
        raise SandboxError(f"mmdebstrap failed ({done.returncode}): {last}", "apt-get update; check the apt mirror")


def _init_layer() -> bytes:
    """The second layer: the first process of every sandbox, readable and not writable by the user inside."""
    package = Path(__file__).parent
    files = {"__main__.py": b"from containers.box.init import main\n\nmain()\n", "containers/__init__.py": b""}
    files |= {f"containers/box/{file.name}": file.read_bytes() for file in sorted(package.glob("box/*.py"))}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, code in sorted(files.items()):
            _add(tar, f"{INIT[-1].lstrip('/')}/{name}", io.BytesIO(code), len(code))
    return out.getvalue()


def _archive(cache: Path, layers: Sequence[Path | bytes]) -> Image:
    digests = [_sha256(layer) for layer in layers]
    config = _config(digests)
    image_id = hashlib.sha256(config).hexdigest()
    tag = f"{TAG}:{image_id[:12]}"
    final = cache / "images" / f"{image_id}.tar"
    if not final.exists():
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=final.parent, delete=False) as scratch:
            try:
                _pack(scratch, config, image_id, tag, list(zip(digests, layers, strict=True)))
                os.chmod(scratch.name, 0o644)
                os.rename(scratch.name, final)
            except BaseException:
                os.unlink(scratch.name)
                raise
    return Image(final, f"sha256:{image_id}", tag)


def _config(digests: Sequence[str]) -> bytes:
    machine = platform.machine()
    if machine not in _MACHINES:
        raise SandboxError(f"no image for machine {machine!r}", f"use one of {', '.join(_MACHINES)}")
    env = [f"PATH={TOOLS}/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC"]
    config = {
        "architecture": _MACHINES[machine],
        "os": "linux",
        "created": CREATED,
        "config": {"Env": env, "User": "1000:1000", "Cmd": ["python3"], "WorkingDir": "/"},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in digests]},
        "history": [{"created": CREATED, "created_by": "layer"} for _ in digests],
    }
    return json.dumps(config, sort_keys=True, separators=(",", ":")).encode()


def _pack(out: Any, config: bytes, image_id: str, tag: str, layers: list[tuple[str, Path | bytes]]) -> None:
    names = [f"{digest}/layer.tar" for digest, _ in layers]
    manifest = [{"Config": f"{image_id}.json", "RepoTags": [tag], "Layers": names}]
    first = json.dumps(manifest, sort_keys=True).encode()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        # The manifest comes first, so that reading the identity does not read the layers.
        _add(tar, "manifest.json", io.BytesIO(first), len(first))
        _add(tar, f"{image_id}.json", io.BytesIO(config), len(config))
        for name, (_, layer) in zip(names, layers, strict=True):
            if isinstance(layer, bytes):
                _add(tar, name, io.BytesIO(layer), len(layer))
            else:
                with layer.open("rb") as stream:
                    _add(tar, name, stream, layer.stat().st_size)


def _add(tar: tarfile.TarFile, name: str, data: IO[bytes], size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o644, EPOCH
    tar.addfile(member, data)


def _sha256(layer: Path | bytes) -> str:
    if isinstance(layer, bytes):
        return hashlib.sha256(layer).hexdigest()
    with layer.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _identity(archive: Path) -> tuple[str, str]:
    """(id, tag) that an archive of ours says it has; the id is checked against the configuration inside."""
    try:
        with tarfile.open(archive) as tar:
            manifest = json.load(_member(tar, "manifest.json"))[0]
            config = _member(tar, manifest["Config"]).read()
    except (OSError, tarfile.TarError, LookupError, ValueError) as error:
        raise SandboxError(f"not an image archive: {type(error).__name__}", f"delete {archive}") from error
    image_id = hashlib.sha256(config).hexdigest()
    if manifest["Config"] != f"{image_id}.json":
        raise SandboxError("the image archive is damaged", f"delete {archive}")
    return f"sha256:{image_id}", str(manifest["RepoTags"][0])


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    stream = tar.extractfile(name)
    if stream is None:
        raise LookupError(name)
    return stream
