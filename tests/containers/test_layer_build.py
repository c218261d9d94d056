"""Layers from the registries, in both sandboxes: the programs start, and nothing of this host came in."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from containers import layer_build
from containers.bubblewrap import BubblewrapSandbox
from containers.building import EPOCH, tree_digest
from containers.layer import LAYER, Layer, Recipe
from containers.layer_build import build_layer
from containers.sandbox import Sandbox, SandboxError
from containers.toolchain import build_toolchain

from .layer_kit import RECIPE, sh

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layer-cache-with-a-telling-name")


@pytest.fixture(scope="module")
def layer(place: Path) -> Layer:
    """Built by two threads at once: both must get the same."""
    got: list[Layer] = []
    threads = [threading.Thread(target=lambda: got.append(build_layer(place, RECIPE, OWN))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 2
    assert got[0] == got[1]
    return got[0]


@pytest.fixture(scope="module", params=["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def sandbox(request: pytest.FixtureRequest, cache: Path) -> Iterator[Sandbox]:
    if request.param == "bubblewrap":
        with BubblewrapSandbox(build_toolchain(cache)) as made:
            yield made
        return
    from containers.docker import DockerSandbox

    image, label = request.getfixturevalue("docker_image"), request.getfixturevalue("docker_label")
    with DockerSandbox(image, label, cache) as box:
        yield box


def entries(layer: Layer) -> Iterator[Path]:
    yield layer.directory
    for where, dirs, names in os.walk(layer.directory):
        yield from (Path(where, name) for name in (*dirs, *names))


def test_published_under_its_digest(layer: Layer, place: Path) -> None:
    assert layer.directory == place / f"layer-{layer.digest[:16]}"
    assert tree_digest(layer.directory) == layer.digest
    assert sorted(path.name.rpartition("-")[0] for path in place.iterdir()) == ["layer", "layer-index"]
    assert layer.versions == {"cowsay": "6.1", "is-number": "7.0.0"}


def test_built_once(layer: Layer, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_build, "_fill", None)
    assert build_layer(place, RECIPE, OWN) == layer


def test_the_lock_is_kept_in_the_index(layer: Layer, place: Path) -> None:
    (index,) = place.glob("layer-index-*.json")
    lock = json.loads(index.read_text())["npm"]
    assert list(lock) == ["is-number"]
    assert lock["is-number"].startswith("sha512-")


def test_elsewhere_it_is_the_same(layer: Layer, tmp_path: Path) -> None:
    assert build_layer(tmp_path / "another-scratch", RECIPE, OWN).digest == layer.digest


def test_no_trace_of_this_host(layer: Layer, place: Path) -> None:
    traces = [str(place), place.name, ".building-", sys.prefix, str(Path(layer_build.__file__).parents[1])]
    files = [path for path in entries(layer) if path.is_file()]
    assert len(files) > 10
    assert [(f.name, trace) for f in files for trace in traces if trace.encode() in f.read_bytes()] == []
    assert not {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", ".package-lock.json"} & {f.name for f in files}


def test_readable_by_all_writable_by_none_but_the_owner(layer: Layer) -> None:
    for path in entries(layer):
        info = path.lstat()
        assert info.st_mtime == EPOCH, path
        assert stat.S_ISLNK(info.st_mode) or stat.S_IMODE(info.st_mode) in (0o644, 0o755)


def test_the_launcher_runs_and_what_it_starts_does_not_see_the_packages(layer: Layer, sandbox: Sandbox) -> None:
    shown = sh(sandbox, f"{LAYER}/bin/cowsay -t moo; python3 -c 'import cowsay'", layer)
    assert b"| moo |" in shown.stdout
    assert shown.exit == 1
    assert b"No module named 'cowsay'" in shown.stderr


def test_its_process_has_the_packages_of_the_layer_only(layer: Layer, sandbox: Sandbox) -> None:
    code = "import os, subprocess, sys; print(sys.path[0]); print(cowsay.__file__); print(dict(os.environ))"
    script = f"sed 's/^sys.exit.*//' {LAYER}/bin/cowsay > p; echo 'import cowsay; {code}' >> p; chmod +x p; ./p"
    first, module, environ = sh(sandbox, script, layer).stdout.decode().splitlines()
    assert (first, module) == (f"{LAYER}/site", f"{LAYER}/site/cowsay/__init__.py")
    assert "PYTHON" not in environ
    assert LAYER not in environ


def test_compiled_for_the_path_inside(layer: Layer, sandbox: Sandbox) -> None:
    if sandbox.python != OWN:  # type: ignore[attr-defined]
        pytest.skip("the interpreter inside has another version")
    script = f"python3 -v -c 'import sys; sys.path[0] = \"{LAYER}/site\"; import cowsay; print(cowsay.__cached__)'"
    result = sh(sandbox, script, layer)
    assert result.stdout.decode().startswith(f"{LAYER}/site/cowsay/__pycache__/")
    assert f"{LAYER}/site/cowsay/__init__.py".encode() in result.stderr
    assert b"bytecode is stale" not in result.stderr
    code = f"import marshal; print(marshal.loads(open('{LAYER}/site/cowsay/__pycache__/__init__.cpython-"
    code += f"{OWN.replace('.', '')}.pyc', 'rb').read()[16:]).co_filename)"
    assert sh(sandbox, f'python3 -c "{code}"', layer).stdout.decode().strip() == f"{LAYER}/site/cowsay/__init__.py"


def test_packages_of_npm_are_there(layer: Layer, sandbox: Sandbox) -> None:
    shown = sh(sandbox, f"cat {LAYER}/node_modules/is-number/package.json", layer).stdout
    assert json.loads(shown)["version"] == "7.0.0"


def test_it_is_read_only_and_only_there_when_asked_for(layer: Layer, sandbox: Sandbox) -> None:
    probe = f"test -e {LAYER}/bin/cowsay && echo there; ( echo x > {LAYER}/bin/new ) 2>/dev/null && echo wrote"
    assert sh(sandbox, probe, layer).stdout == b"there\n"
    assert sh(sandbox, f"ls -A /opt 2>/dev/null; {probe}", None).stdout == b""


def test_no_path_of_the_host_shows_inside(layer: Layer, sandbox: Sandbox, place: Path, cache: Path) -> None:
    shown = sh(sandbox, f"cat /proc/self/mountinfo /proc/mounts /proc/1/environ; ls -lR {LAYER}", layer).stdout.decode()
    words = [str(place), place.name, layer.directory.name, layer.digest[:16], str(cache), str(Path.home()) + "/"]
    assert len(shown) > 1000
    assert [word for word in words if word in shown] == []


def test_node_runs_a_package(place: Path, sandbox: Sandbox) -> None:
    layer = build_layer(place, Recipe(npm=("is-number@7.0.0",), node=True), OWN)
    code = f"console.log(require('{LAYER}/node_modules/is-number')(5), process.version)"
    result = sh(sandbox, f'{LAYER}/bin/node -e "{code}"', layer)
    assert result.stdout.decode().split() == ["true", "v" + layer.versions["node"]]


def test_for_an_interpreter_that_is_not_ours(place: Path) -> None:
    layer = build_layer(place, Recipe(pip=("cowsay==6.1",)), "3.12" if OWN != "3.12" else "3.13")
    assert (layer.directory / "site" / "cowsay" / "__init__.py").is_file()
    assert not list(layer.directory.rglob("*.pyc"))


def test_a_registry_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(SandboxError, match=r"installing is-number@7\.0\.0 failed: npm error") as caught:
        build_layer(tmp_path / "cache", Recipe(npm=("is-number@7.0.0",)), OWN)
    assert str(tmp_path) not in str(caught.value)
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.docker
def test_in_docker_it_is_loaded_once(layer: Layer, docker_image: str, docker_label: str, cache: Path) -> None:
    from containers.docker import DockerSandbox

    with DockerSandbox(docker_image, docker_label, cache) as box:
        ids: list[str] = []
        threads = [threading.Thread(target=lambda: ids.append(box._layers.image(layer))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(ids)) == 1
        assert box._layers.image(None) == docker_image != ids[0]
        base = box.engine.client.images.get(docker_image).attrs["RootFS"]["Layers"]
        assert box.engine.client.images.get(ids[0]).attrs["RootFS"]["Layers"][:-1] == base


@pytest.mark.docker
def test_in_docker_without_a_cache_it_is_refused(layer: Layer, docker_image: str, docker_label: str) -> None:
    from containers.docker import DockerSandbox

    with DockerSandbox(docker_image, docker_label) as box, pytest.raises(SandboxError, match="no cache for images"):
        sh(box, "true", layer)
