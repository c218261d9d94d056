"""The image is a function of its contents, and its archive is what the engine loads."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import docker as sdk
import pytest

from containers import image
from containers.box import INIT
from containers.sandbox import SandboxError

needs_mmdebstrap = pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason=image.install_hint())


def small_rootfs(cache: Path) -> Path:
    """A stand-in for the packages: the archive code is the same, the build takes no time."""
    place = cache / "rootfs" / image.recipe()
    place.mkdir(parents=True)
    with tarfile.open(place / "rootfs.tar", "w") as tar:
        member = tarfile.TarInfo("./etc/hello")
        member.size = 5
        tar.addfile(member, io.BytesIO(b"hello"))
    return place / "rootfs.tar"


def test_same_content_same_archive(tmp_path: Path) -> None:
    digests = []
    for name in ("one", "two"):
        small_rootfs(tmp_path / name)
        built = image.build_image(tmp_path / name)
        digests.append((built.id, hashlib.sha256(built.archive.read_bytes()).hexdigest()))
    assert digests[0] == digests[1]


def test_other_content_other_id(tmp_path: Path) -> None:
    small_rootfs(tmp_path / "one")
    rootfs = small_rootfs(tmp_path / "two")
    rootfs.write_bytes(rootfs.read_bytes() + b"\0" * 10240)
    assert image.build_image(tmp_path / "one").id != image.build_image(tmp_path / "two").id


def test_built_once(tmp_path: Path) -> None:
    small_rootfs(tmp_path)
    first = image.build_image(tmp_path)
    stamp = first.archive.stat().st_mtime_ns
    assert image.build_image(tmp_path) == first
    assert first.archive.stat().st_mtime_ns == stamp
    assert [p.name for p in (tmp_path / "images").iterdir()] == [first.archive.name]


def test_the_id_is_the_digest_of_the_configuration(tmp_path: Path) -> None:
    small_rootfs(tmp_path)
    built = image.build_image(tmp_path)
    with tarfile.open(built.archive) as tar:
        manifest = json.loads(tar.extractfile("manifest.json").read())[0]  # type: ignore[union-attr]
        config = tar.extractfile(manifest["Config"]).read()  # type: ignore[union-attr]
        layers = [hashlib.sha256(tar.extractfile(n).read()).hexdigest() for n in manifest["Layers"]]  # type: ignore[union-attr]
    assert built.id == "sha256:" + hashlib.sha256(config).hexdigest()
    assert json.loads(config)["rootfs"]["diff_ids"] == [f"sha256:{digest}" for digest in layers]
    assert json.loads(config)["config"]["User"] == "1000:1000"


def test_the_first_process_is_in_the_image(tmp_path: Path) -> None:
    small_rootfs(tmp_path)
    built = image.build_image(tmp_path)
    with tarfile.open(built.archive) as tar:
        names = json.loads(tar.extractfile("manifest.json").read())[0]["Layers"]  # type: ignore[union-attr]
        layer = io.BytesIO(tar.extractfile(names[1]).read())  # type: ignore[union-attr]
    with tarfile.open(fileobj=layer) as tar:
        members = {member.name: member for member in tar}
    top = INIT[-1].lstrip("/")
    assert {f"{top}/__main__.py", f"{top}/containers/box/init.py"} <= set(members)
    assert all(member.uid == 0 and not member.mode & 0o022 for member in members.values())


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    small_rootfs(tmp_path)
    archive = image.build_image(tmp_path).archive
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b'"1000:1000"', b'"0000:0000"'))
    with pytest.raises(SandboxError, match="damaged"):
        image.load_image(None, archive)  # type: ignore[arg-type]
    archive.write_bytes(b"no tar")
    with pytest.raises(SandboxError, match="not an image"):
        image.load_image(None, archive)  # type: ignore[arg-type]


def test_without_the_tool_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError) as caught:
        image.build_image(tmp_path)
    assert "mmdebstrap" in caught.value.remedy
    assert not list(tmp_path.glob("**/*.tar"))


@pytest.mark.docker
def test_loading_twice_is_loading_once(docker_image: str, cache: Path) -> None:
    client = sdk.from_env()
    try:
        built = image.build_image(cache)
        assert image.load_image(client, built.archive) == docker_image == built.id
        assert client.images.get(built.tag).id == built.id
    finally:
        client.close()


@pytest.mark.docker
def test_nothing_of_the_host_is_in_the_root(docker_image: str, cache: Path) -> None:
    (rootfs,) = (cache / "rootfs" / image.recipe()).glob("rootfs.tar")
    with tarfile.open(rootfs) as tar:
        members = {member.name.removeprefix("./").rstrip("/"): member for member in tar}
    assert not [name for name, m in members.items() if m.isreg() and m.mode & 0o6000]
    assert not {"etc/hostname", "etc/resolv.conf", "etc/apt/sources.list"} & set(members)
    assert {"work", "task", "agent", "memory", "tools/bin/python3", "tools/bin/pytest"} <= set(members)
    assert members["home/dev"].uid == 1000


@pytest.mark.long
@needs_mmdebstrap
def test_two_builds_are_equal_bit_for_bit(docker_image: str, cache: Path, tmp_path: Path) -> None:
    rootfs = cache / "rootfs" / image.recipe() / "rootfs.tar"
    again = tmp_path / "rootfs.tar"
    image._mmdebstrap(again, tmp_path)
    same = subprocess.run(["cmp", str(rootfs), str(again)], capture_output=True, text=True)
    # The mirror may have newer packages than the cache; then the lists of packages differ, and only then.
    assert same.returncode == 0 or packages(rootfs) != packages(again), same.stdout


def packages(rootfs: Path) -> bytes:
    with tarfile.open(rootfs) as tar:
        stream = tar.extractfile("./var/lib/dpkg/status")
        return stream.read() if stream else b""
