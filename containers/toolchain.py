"""The toolchain: what a sandbox offers at /tools, built once from the base interpreter into a cache.

A toolchain is a copy of the interpreter and its standard library plus pinned pytest, compiled for the neutral
path `/tools`. git and the shell tools are not in it; they come from the host's /usr.

Invariant: nothing of the harness' own environment and no path of the host gets in (a prefix shorter than
"/tools", as that of the system's interpreter, is the one exception), and a directory once published under its
digest never changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from containers.building import EPOCH as EPOCH
from containers.building import compile_tree, normalise, pip_command, run_tool, tree_digest, walk
from containers.sandbox import TOOLS, SandboxError

RECIPE = 3  # raise when the building changes, so that caches are built anew
PINNED = ("pytest==9.2.0", "iniconfig==2.3.1", "packaging==26.4", "pluggy==1.7.0", "pygments==2.21.0")

_SKIPPED_DIRS = {
    *("__pycache__", "dist-packages", "ensurepip", "idlelib", "site-packages", "test", "tests", "tkinter"),
    *("turtledemo", "pkgconfig"),
}
_SKIPPED_FILES = {"EXTERNALLY-MANAGED", "sitecustomize.py", "usercustomize.py", "turtle.py"}
_SCRIPT = """#!{tools}/bin/python3
import sys
from {module} import {top}
sys.exit({function}())
"""


@dataclass(frozen=True)
class Toolchain:
    """A built, read-only, world-readable toolchain.

    `directory` is a host path (never shown inside); `digest` is sha256 over paths, modes and contents without
    the compiled files; `versions` names what is in it: "python", "pytest" and each other distribution.
    """

    directory: Path
    digest: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class _Base:
    """The interpreter that is copied: the one below any virtual environment."""

    prefix: Path
    executable: Path
    stdlib: Path
    libpython: Path | None  # the shared library that the binary needs, if any

    @property
    def name(self) -> str:
        return f"python{sys.version_info.major}.{sys.version_info.minor}"


def build_toolchain(cache: Path, extra_requirements: Sequence[str] = ()) -> Toolchain:
    """The toolchain for this interpreter, built into `cache` unless it is there already.

    `extra_requirements` are requirement specifiers, exactly pinned by the caller if results must be repeatable.
    Several processes may build at once; the first to finish publishes. The first build needs a package index
    and takes some ten seconds. Raises SandboxError when the interpreter cannot be copied or pip fails.
    """
    if sys.platform != "linux":
        raise SandboxError("the embedded toolchain needs Linux", "use the docker sandbox")
    base = _base()
    index = cache / f"toolchain-index-{_key(base, extra_requirements)}.json"
    found = _published(cache, index)
    if found is not None:
        return found
    cache.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".building-", dir=cache) as scratch:
            tree = Path(scratch) / "tools"
            versions = _build(tree, base, extra_requirements)
            return _publish(cache, index, tree, versions)
    except OSError as error:
        raise SandboxError(f"building the toolchain failed: {error.strerror or error}") from error


def _base() -> _Base:
    executable = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    prefix = Path(sys.base_prefix)
    stdlib = Path(sysconfig.get_path("stdlib", vars={"installed_base": str(prefix), "base": str(prefix)}))
    soname = str(sysconfig.get_config_var("INSTSONAME") or "")
    library = None
    if soname.startswith("libpython") and ".so" in soname and soname.encode() in executable.read_bytes():
        places = (prefix / "lib", Path(str(sysconfig.get_config_var("LIBDIR") or "/nonexistent")))
        library = next((place / soname for place in places if (place / soname).is_file()), None)
        if library is None:
            raise SandboxError(f"{soname} of the base interpreter was not found", "use another Python")
    return _Base(prefix, executable, stdlib, library)


def _key(base: _Base, extra: Sequence[str]) -> str:
    """Names a build by its inputs; the digest names it by its contents."""
    stamps = []
    for path in (base.executable, base.libpython, base.stdlib / "os.py"):
        if path is not None:
            info = path.stat()
            stamps.append([str(path), info.st_size, info.st_mtime_ns])
    inputs = [RECIPE, sys.version, os.uname().machine, stamps, PINNED, sorted(extra)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]


def _published(cache: Path, index: Path) -> Toolchain | None:
    try:
        record = json.loads(index.read_text())
    except FileNotFoundError:
        return None
    directory = cache / f"toolchain-{record['digest'][:16]}"
    if not (directory / "bin" / "python3").exists():
        return None  # somebody emptied the cache
    return Toolchain(directory.absolute(), record["digest"], record["versions"])


def _publish(cache: Path, index: Path, tree: Path, versions: dict[str, str]) -> Toolchain:
    digest = tree_digest(tree)
    directory = cache / f"toolchain-{digest[:16]}"
    try:
        os.rename(tree, directory)
    except OSError:
        if not (directory / "bin" / "python3").exists():
            raise
        # another builder was first, with the same contents
    handle, name = tempfile.mkstemp(prefix=".index-", dir=cache)
    with os.fdopen(handle, "w") as file:
        os.fchmod(handle, 0o644)
        json.dump({"digest": digest, "versions": versions}, file, sort_keys=True)
    os.replace(name, index)
    return Toolchain(directory.absolute(), digest, versions)


def _build(tree: Path, base: _Base, extra: Sequence[str]) -> dict[str, str]:
    library = tree / base.stdlib.relative_to(base.prefix)
    _copy_stdlib(base.stdlib, library)
    _copy_interpreter(tree, base)
    _neutralise(tree, base)
    site = tree / _site_dir(base)
    versions = {"python": ".".join(map(str, sys.version_info[:3])), **_install(site, extra)}
    _write_scripts(tree / "bin", site)
    normalise(tree)
    compile_tree(tree, tree, TOOLS)
    normalise(tree)
    _prove(tree)
    return versions


def _copy_stdlib(source: Path, target: Path) -> None:
    def skipped(_: str, names: list[str]) -> set[str]:
        return {
            name
            for name in names
            if name in _SKIPPED_DIRS
            or name in _SKIPPED_FILES
            or name.startswith(("config-", "_test", "_tkinter", "_xxtest"))
            or name.endswith(".pyc")
        }

    shutil.copytree(source, target, ignore=skipped, ignore_dangling_symlinks=True)


def _copy_interpreter(tree: Path, base: _Base) -> None:
    program = base.executable.read_bytes()
    if base.libpython is not None:
        (tree / "lib").mkdir(exist_ok=True)
        shutil.copyfile(base.libpython, tree / "lib" / base.libpython.name)
        program = _relative_run_path(program, base.libpython.parent)
    (tree / "bin").mkdir(exist_ok=True)
    (tree / "bin" / base.name).write_bytes(program)
    (tree / "bin" / base.name).chmod(0o755)
    for alias in ("python", "python3"):
        (tree / "bin" / alias).symlink_to(base.name)


def _relative_run_path(program: bytes, directory: Path) -> bytes:
    """Point the binary's run path at ../lib, in place: the string table of an ELF file cannot grow."""
    new = b"$ORIGIN/../lib"
    if new in program:
        return program
    for old in {os.fsencode(directory), os.fsencode(os.path.realpath(directory))}:
        if len(old) >= len(new) and b"\0" + old + b"\0" in program:
            padded = new + b"\0" * (len(old) - len(new))
            return program.replace(b"\0" + old + b"\0", b"\0" + padded + b"\0", 1)
    raise SandboxError(
        "the base interpreter needs a shared libpython but has no run path to it",
        "use a Python that is linked statically or built with -Wl,-rpath",
    )


def _neutralise(tree: Path, base: _Base) -> None:
    """Replace the compiled-in prefix, in binaries by something of the same length: nothing there can be moved.

    A linker keeps one copy of a text that another ends in: a prefix that ends in the version ("…/3.11.7") may be
    where `sys.version` begins. Then this end stays.
    """
    version = platform.python_version()
    for prefix in {str(base.prefix), os.path.realpath(base.prefix)}:
        if prefix in ("/usr", "/usr/local") or len(prefix) < len(TOOLS):
            continue  # tells nothing; and what is shorter cannot be replaced in place
        old = os.fsencode(prefix)
        kept = f"/{version}".encode() if prefix.endswith(f"/{version}") else b""
        if len(prefix) < len(TOOLS) + len(kept):
            continue
        new = TOOLS.encode().ljust(len(old) - len(kept), b"/") + kept
        for path in walk(tree):
            if path.is_symlink() or path.is_dir():
                continue
            data = path.read_bytes()
            if old in data:
                binary = data[:4] == b"\x7fELF"
                path.write_bytes(data.replace(old, new if binary else TOOLS.encode()))


def _site_dir(base: _Base) -> Path:
    """Where the copied interpreter will look for packages, relative to its prefix (distributions differ)."""
    code = f"import site; print(site.getsitepackages([{TOOLS!r}])[-1])"
    shown = run_tool([str(base.executable), "-I", "-S", "-c", code], "asking the base interpreter").strip()
    return Path(shown).relative_to(TOOLS)


def _install(site: Path, extra: Sequence[str]) -> dict[str, str]:
    site.mkdir(parents=True, exist_ok=True)
    common = [*pip_command(), "install", "--quiet", "--no-compile", "--disable-pip-version-check", "--no-input"]
    common += ["--root-user-action=ignore", "--only-binary=:all:", "--target", str(site)]
    run_tool([*common, "--no-deps", *PINNED], "installing pytest")
    if extra:
        run_tool([*common, "--upgrade", *PINNED, *extra], "installing the extra requirements")
    shutil.rmtree(site / "bin", ignore_errors=True)  # made for the harness' interpreter; see _write_scripts
    versions = {}
    for dist in metadata.distributions(path=[str(site)]):
        versions[dist.metadata["Name"].lower()] = dist.version
    for info in site.glob("*.dist-info"):
        for name in ("RECORD", "direct_url.json", "REQUESTED", "INSTALLER"):
            (info / name).unlink(missing_ok=True)
    return dict(sorted(versions.items()))


def _write_scripts(target: Path, site: Path) -> None:
    for dist in metadata.distributions(path=[str(site)]):
        for entry in dist.entry_points:
            if entry.group != "console_scripts":
                continue
            top = entry.attr.partition(".")[0]
            text = _SCRIPT.format(tools=TOOLS, module=entry.module, top=top, function=entry.attr)
            (target / entry.name).write_text(text)
            (target / entry.name).chmod(0o755)


def _prove(tree: Path) -> None:
    """Start the copy where it stands; an interpreter that still leans on the original is refused."""
    code = (
        "import sys, pytest, ssl, sqlite3, hashlib\n"
        "print(sys.version.replace('\\n', ' '))\n"
        "print(sys.prefix)\n"
        "print(*{l.split()[-1] for l in open('/proc/self/maps') if 'libpython' in l})"
    )
    shown = run_tool([str(tree / "bin" / "python3"), "-I", "-B", "-c", code], "starting the copied interpreter")
    version, prefix, libraries = shown.split("\n", 2)
    outside = [name for name in libraries.split() if not name.startswith(os.path.realpath(tree))]
    if version != sys.version.replace("\n", " "):
        raise SandboxError(f"the copied interpreter is damaged: its version is {version!r}", "use another Python")
    if os.path.realpath(prefix) != os.path.realpath(tree) or outside:
        raise SandboxError("the copied interpreter does not stand alone", "use another Python")
