"""The toolchain: stands alone, carries no trace of this host, is built once and published whole."""

import json
import os
import platform
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from containers import toolchain as room
from containers.sandbox import SandboxError
from containers.toolchain import EPOCH, Toolchain, build_toolchain, tree_digest

pytestmark = pytest.mark.slow  # it builds one


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("toolchain-cache-with-a-telling-name")


@pytest.fixture(scope="module")
def built(cache: Path) -> Toolchain:
    """Built by two threads at once: both must get the same."""
    got: list[Toolchain] = []
    threads = [threading.Thread(target=lambda: got.append(build_toolchain(cache))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 2
    assert got[0] == got[1]
    return got[0]


def files(built: Toolchain) -> Iterator[Path]:
    for where, _, names in os.walk(built.directory):
        for name in names:
            yield Path(where) / name


def start(built: Toolchain, code: str) -> str:
    program = str(built.directory / "bin" / "python3")
    return subprocess.run([program, "-B", "-c", code], env={}, check=True, capture_output=True, text=True).stdout


def test_published_under_its_digest(built: Toolchain, cache: Path) -> None:
    assert built.directory == cache / f"toolchain-{built.digest[:16]}"
    assert tree_digest(built.directory) == built.digest
    assert sorted(path.name.partition("-")[0] for path in cache.iterdir()) == ["toolchain", "toolchain"]


def test_built_once(built: Toolchain, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_build", None)
    assert build_toolchain(cache) == built


def test_another_request_is_another_build(built: Toolchain, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SandboxError("would build")

    monkeypatch.setattr(room, "_build", refuse)
    with pytest.raises(SandboxError, match="would build"):
        build_toolchain(cache, ["six==1.17.0"])
    assert not list(cache.glob(".building-*"))


def test_it_has_what_it_says(built: Toolchain) -> None:
    assert built.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    pins = dict(pin.split("==") for pin in room.PINNED)
    assert {name: built.versions[name] for name in pins} == pins
    for name in ("python", "python3", "pytest"):
        assert (built.directory / "bin" / name).exists()
    assert (built.directory / "bin" / "pytest").read_text().startswith("#!/tools/bin/python3\n")


def test_it_stands_alone(built: Toolchain) -> None:
    code = "import sys, pytest, ssl, sqlite3, json; print(json.dumps([sys.prefix, sys.path, pytest.__file__]))"
    prefix, path, module = json.loads(start(built, code))
    assert prefix == str(built.directory)
    assert all(entry == "" or entry.startswith(str(built.directory)) for entry in path)
    assert module.startswith(str(built.directory))


def test_no_trace_of_this_host(built: Toolchain, cache: Path) -> None:
    checkout = Path(room.__file__).parents[1]
    traces = [str(cache), cache.name, str(checkout), ".building-"]
    if sys.prefix != sys.base_prefix:
        traces.append(sys.prefix)
    found = [(path.name, trace) for path in files(built) for trace in traces if trace.encode() in path.read_bytes()]
    assert found == []


@pytest.mark.skipif(len(sys.base_prefix) < len("/tools"), reason="a prefix that tells nothing")
def test_the_compiled_in_prefix_is_gone(built: Toolchain) -> None:
    prefix = sys.base_prefix.encode()
    assert [path for path in files(built) if prefix in path.read_bytes()] == []


def test_it_knows_its_version(built: Toolchain) -> None:
    """The prefix of the original may end in its version, and the linker have kept only one copy of both."""
    code = "import platform, sys; print(sys.version); print(platform.python_version(), platform.python_build())"
    shown = start(built, code)
    assert shown == f"{sys.version}\n{platform.python_version()} {platform.python_build()}\n"


def test_nothing_superfluous(built: Toolchain) -> None:
    names = {path.name for path in files(built)} | {Path(where).name for where, _, _ in os.walk(built.directory)}
    assert not names & {"ensurepip", "idlelib", "tkinter", "test", "pip", "RECORD", "direct_url.json", "turtle.py"}


def test_readable_by_all_and_one_time(built: Toolchain) -> None:
    for path in [*files(built), built.directory]:
        info = path.lstat()
        assert info.st_mtime == EPOCH, path
        if not stat.S_ISLNK(info.st_mode):
            assert stat.S_IMODE(info.st_mode) in (0o644, 0o755), path


def test_compiled_for_the_neutral_path(built: Toolchain) -> None:
    code = (
        "import json, importlib.util as u; c = u.cache_from_source(json.__file__);"
        "import marshal; print(marshal.loads(open(c, 'rb').read()[16:]).co_filename)"
    )
    assert start(built, code).strip().startswith("/tools/lib/")
    # valid as they are: a stale one would be compiled anew at every start inside
    shown = subprocess.run(
        [str(built.directory / "bin" / "python3"), "-v", "-B", "-c", "import json, _pytest.main"],
        env={},
        check=True,
        capture_output=True,
        text=True,
    ).stderr
    assert "bytecode is stale" not in shown
    assert "json/__pycache__" in shown


def test_emptied_cache_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SandboxError("would build")

    monkeypatch.setattr(room, "_build", refuse)
    index = tmp_path / f"toolchain-index-{room._key(room._base(), ())}.json"
    index.write_text(json.dumps({"digest": "0" * 64, "versions": {}}))
    with pytest.raises(SandboxError, match="would build"):
        build_toolchain(tmp_path)


class TestRunPath:
    OLD = "/opt/pythons/3.11/lib"

    def test_is_rewritten_in_place(self) -> None:
        program = b"\x7fELF..\0" + self.OLD.encode() + b"\0end"
        changed = room._relative_run_path(program, Path(self.OLD))
        assert len(changed) == len(program)
        assert b"\0$ORIGIN/../lib\0" in changed
        assert self.OLD.encode() not in changed

    def test_relative_already(self) -> None:
        program = b"\0$ORIGIN/../lib\0"
        assert room._relative_run_path(program, Path(self.OLD)) == program

    def test_none_is_refused_with_a_remedy(self) -> None:
        with pytest.raises(SandboxError) as caught:
            room._relative_run_path(b"\x7fELF", Path(self.OLD))
        assert "rpath" in caught.value.remedy
