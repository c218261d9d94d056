"""Hosted libraries: the pin decides, the cache serves offline, a hostile archive is refused whole."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from traps import hosted
from traps.hosted import HostedError, HostedSpec, configured_index, fetch, files, matches

TABULATE = HostedSpec(
    "tabulate",
    "0.9.0",
    "0095b12bf5966de529c0feb1fa08671671b3368eec77d7ef7ab114be2c068b3c",
    "tabulate-0.9.0.tar.gz",
)
NOWHERE = "http://127.0.0.1:9/simple"


def tar_of(path: Path, *members: tuple[str | tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if info.isreg():
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def link(name: str, kind: bytes, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index in a folder, named to pip in its own way."""
    page = tmp_path / "simple" / "demo"
    page.mkdir(parents=True)
    tar_of(page / "demo-1.0.tar.gz", ("demo-1.0/demo.py", b"X = 1\n"))
    (page / "index.html").write_text('<a href="demo-1.0.tar.gz">demo-1.0.tar.gz</a>', encoding="utf-8")
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    return page / "demo-1.0.tar.gz"


def spec_of(archive: Path) -> HostedSpec:
    return HostedSpec("demo", "1.0", hashlib.sha256(archive.read_bytes()).hexdigest(), archive.name)


def test_real_library_is_fetched_once_and_then_served_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        path = fetch(TABULATE, tmp_path)
    except HostedError as error:
        if error.offline:
            pytest.skip(f"no package index: {error.reason}")
        raise
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    assert fetch(TABULATE, tmp_path) == path
    tree = files(path, ["tabulate/**", "test/**"], ["**/version.py"])
    assert "tabulate/__init__.py" in tree
    assert "tabulate/version.py" not in tree
    assert "setup.cfg" not in tree
    assert b"def tabulate(" in tree["tabulate/__init__.py"].bytes
    assert not tree["tabulate/__init__.py"].executable


def test_index_of_pip_is_used_and_nothing_else_is_left_in_the_cache(index: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    path = fetch(spec_of(index), cache)
    assert path.read_bytes() == index.read_bytes()
    assert [p for p in cache.rglob("*") if p.is_file()] == [path]


def test_wrong_hash_is_refused_and_not_cached(index: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with pytest.raises(HostedError, match="the pin says ffff") as error:
        fetch(HostedSpec("demo", "1.0", "f" * 64, index.name), cache)
    assert not error.value.offline
    assert not [p for p in cache.rglob("*") if p.is_file()]


@pytest.mark.parametrize("pin", ["", "abc", "F" * 64, "f" * 64 + "\n"])
def test_missing_or_malformed_hash_is_refused_before_any_request(
    pin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    with pytest.raises(HostedError, match="sha256") as error:
        fetch(HostedSpec("demo", "1.0", pin, "demo-1.0.tar.gz"), tmp_path)
    assert error.value.remedy


@pytest.mark.parametrize("name", ["../demo.tar.gz", "a/b.tar.gz", "demo-1.0.whl", ""])
def test_filename_that_is_no_source_archive_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(HostedError, match="no source archive"):
        fetch(HostedSpec("demo", "1.0", "f" * 64, name), tmp_path)


def test_no_network_says_so_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", NOWHERE)
    with pytest.raises(HostedError, match=r"demo-1\.0\.tar\.gz") as error:
        fetch(HostedSpec("demo", "1.0", "f" * 64, "demo-1.0.tar.gz"), tmp_path)
    assert error.value.offline
    assert "PIP_INDEX_URL" in error.value.remedy


def test_damaged_cache_is_fetched_again(index: Path, tmp_path: Path) -> None:
    path = fetch(spec_of(index), tmp_path / "cache")
    path.write_bytes(b"damaged")
    assert fetch(spec_of(index), tmp_path / "cache").read_bytes() == index.read_bytes()


def test_download_has_a_cap(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "MAX_ARCHIVE", 10)
    with pytest.raises(HostedError, match="larger than 10 bytes"):
        fetch(spec_of(index), tmp_path / "cache")


def test_executable_bit_and_order_survive(tmp_path: Path) -> None:
    tool = tarfile.TarInfo("d/z.sh")
    tool.mode = 0o755
    archive = tar_of(tmp_path / "a.tar.gz", (tool, b"#!/bin/sh\n"), ("d/a.py", b""))
    tree = files(archive, ["**"], [])
    assert list(tree) == ["a.py", "z.sh"]
    assert [f.executable for f in tree.values()] == [False, True]


HOSTILE: dict[str, list[tuple[str | tarfile.TarInfo, bytes]]] = {
    "climbs": [("d/../../etc/passwd", b"x")],
    "absolute": [("/etc/passwd", b"x")],
    "backslash": [("d/..\\x", b"x")],
    "control": [("d/a\nb", b"x")],
    "symlink": [(link("d/l", tarfile.SYMTYPE, "/etc/passwd"), b"")],
    "hardlink": [(link("d/l", tarfile.LNKTYPE, "d/a"), b"")],
    "device": [(link("d/l", tarfile.CHRTYPE, ""), b"")],
    "fifo": [(link("d/l", tarfile.FIFOTYPE, ""), b"")],
    "twice": [("d/a", b"1"), ("d/a", b"2")],
    "two tops": [("d/a", b"1"), ("e/a", b"2")],
    "no top": [("a", b"1")],
    "empty": [],
    "long path": [("d/" + "a" * 500, b"1")],
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_tar_is_refused_even_if_the_member_would_be_dropped(case: str, tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "a.tar.gz", *HOSTILE[case])
    with pytest.raises(HostedError):
        files(archive, ["only/this"], ["**"])


def test_caps_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tar_of(tmp_path / "a.tar.gz", *((f"d/{i}", b"x" * 5000) for i in range(5)))
    assert len(files(archive, ["**"], [])) == 5
    for name, cap in (("MAX_UNPACKED", 20_000), ("MAX_MEMBER", 4999), ("MAX_MEMBERS", 4)):
        with monkeypatch.context() as patch:
            patch.setattr(hosted, name, cap)
            with pytest.raises(HostedError, match="refused"):
                files(archive, ["**"], [])


def test_inflated_bomb_stops_at_the_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "MAX_UNPACKED", 1_000_000)
    archive = tar_of(tmp_path / "a.tar.gz", ("d/zeros", bytes(8_000_000)))
    with pytest.raises(HostedError, match="inflates to more"):
        files(archive, ["**"], [])


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip"])
def test_noise_and_cut_archives_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(os.urandom(2000))
    with pytest.raises(HostedError, match="refused"):
        files(path, ["**"], [])
    whole = tar_of(tmp_path / "b.tar.gz", ("d/a", os.urandom(50_000))).read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(HostedError, match="ends early"):
        files(tmp_path / "cut.tar.gz", ["**"], [])


def test_zip_is_read_and_its_links_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as book:
        book.writestr("d/a.py", "x")
    assert files(tmp_path / "a.zip", ["**"], [])["a.py"].bytes == b"x"
    info = zipfile.ZipInfo("d/l")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as book:
        book.writestr(info, "/etc/passwd")
    with pytest.raises(HostedError, match="a link"):
        files(tmp_path / "b.zip", ["**"], [])


@pytest.mark.parametrize(
    ("glob", "path", "covers"),
    [
        ("**", "a/b.py", True),
        ("*.py", "b.py", True),
        ("*.py", "a/b.py", False),
        ("**/*.py", "b.py", True),
        ("**/*.py", "a/c/b.py", True),
        ("a/**", "a/c/b.py", True),
        ("a/**", "ab/c", False),
        ("?.py", "b.py", True),
        ("a.py", "axpy", False),
        ("x.egg-info/**", "x.egg-info/PKG-INFO", True),
    ],
)
def test_globs(glob: str, path: str, covers: bool) -> None:
    assert matches(glob, path) is covers


def test_pip_configuration_is_read_in_the_order_of_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    home = tmp_path / "home"
    (home / ".config" / "pip").mkdir(parents=True)
    (home / ".config" / "pip" / "pip.conf").write_text("[global]\nindex-url = http://user.example/simple\n")
    chosen = tmp_path / "chosen.conf"
    chosen.write_text("[global]\nindex-url = http://chosen.example/simple\n")
    env = {"HOME": str(home), "XDG_CONFIG_DIRS": str(tmp_path)}
    assert configured_index(env) == "http://user.example/simple"
    assert configured_index({**env, "PIP_CONFIG_FILE": str(chosen)}) == "http://chosen.example/simple"
    assert configured_index({**env, "PIP_CONFIG_FILE": os.devnull}) is None
    assert configured_index({**env, "PIP_INDEX_URL": "http://env.example/"}) == "http://env.example/"
