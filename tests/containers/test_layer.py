"""Layers: exact pins, and what a sandbox shows of one. No registry is asked here; see test_layer_build."""

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from containers import layer_build, selfcheck
from containers.bubblewrap import BubblewrapSandbox
from containers.building import EPOCH, normalise, tree_digest
from containers.docker_layer import write_tar
from containers.layer import LAYER, Layer, Recipe
from containers.layer_build import build_layer
from containers.sandbox import Mount, SandboxError, Spec
from containers.toolchain import build_toolchain

from .layer_kit import Layered, by_hand, sh

HELLO = "#!/bin/sh\necho hello\n"
SIZES = {"tiny": "1", "other": "22"}


@pytest.fixture(scope="module")
def sandbox(cache: Path) -> Iterator[BubblewrapSandbox]:
    with BubblewrapSandbox(build_toolchain(cache)) as made:
        yield made


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory) -> Layer:
    """Below a directory that only its owner may pass, as a cache in a home can be."""
    place = tmp_path_factory.mktemp("closed")
    place.chmod(0o700)
    return by_hand(place, {"bin/hello": HELLO, "site/mod.py": "VALUE = 3\n"})


class TestRecipe:
    @pytest.mark.parametrize(
        "pin", ["a==1", "mini-swe-agent==2.4.6", "A.b_c==1.0.post1+local", "aider-chat[help,browser]==0.86.2"]
    )
    def test_a_pinned_requirement(self, pin: str) -> None:
        assert Recipe(pip=(pin,)).pip == (pin,)

    @pytest.mark.parametrize(
        "loose",
        ["a", "a>=1", "a==1.*", "a==1 ", "a==1; python_version > '3'", "-r file", "./a==1", "a @ file:///x", ""],
    )
    def test_a_loose_requirement(self, loose: str) -> None:
        with pytest.raises(ValueError, match="not an exactly pinned package"):
            Recipe(pip=("b==1", loose))

    @pytest.mark.parametrize("pin", ["@openai/codex@0.171.0", "is-number@7.0.0", "a@1.0.0-rc.1", "a@1.0.0-linux-x64"])
    def test_a_pinned_package(self, pin: str) -> None:
        assert Recipe(npm=(pin,)).npm == (pin,)

    @pytest.mark.parametrize(
        "loose", ["a", "a@latest", "a@^1.0.0", "a@1", "a@1.x.0", "@s/a", "a@file:../b", "a@npm:b@1.0.0", "--x@1.0.0 y"]
    )
    def test_a_loose_package(self, loose: str) -> None:
        with pytest.raises(ValueError, match="not an exactly pinned package"):
            Recipe(npm=(loose,))


class TestBubblewrap:
    def test_it_is_seen(self, sandbox: BubblewrapSandbox, layer: Layer) -> None:
        result = sh(sandbox, f"{LAYER}/bin/hello; cat {LAYER}/site/mod.py; find {LAYER} | sort", layer)
        names = ["", "/bin", "/bin/hello", "/site", "/site/mod.py"]
        assert result.stdout.decode().splitlines() == ["hello", "VALUE = 3", *(LAYER + name for name in names)]

    def test_everybody_may_look_at_it(self, sandbox: BubblewrapSandbox, layer: Layer) -> None:
        script = f"stat -c %a /opt {LAYER} {LAYER}/bin {LAYER}/bin/hello {LAYER}/site/mod.py"
        assert sh(sandbox, script, layer).stdout.split() == [b"755", b"755", b"755", b"755", b"644"]

    def test_without_one_nothing_is_there(self, sandbox: BubblewrapSandbox, layer: Layer) -> None:
        for shown, there in ((None, "no"), (layer, "yes"), (None, "no"), (layer, "yes")):
            assert sh(sandbox, "test -e /opt && echo yes || echo no", shown).stdout.decode().strip() == there

    def test_it_cannot_be_changed(self, sandbox: BubblewrapSandbox, layer: Layer) -> None:
        acts = ["echo x >> F", "rm F", "mv F F2", "chmod 777 F", "touch D/new", "mkdir D/sub", "ln -s a D/l", "touch F"]
        script = "\n".join(f"( {act} ) 2>/dev/null && echo '{act}'" for act in acts)
        script = script.replace("F", f"{LAYER}/site/mod.py").replace("D", f"{LAYER}/bin")
        assert sh(sandbox, script, layer).stdout == b""
        assert tree_digest(layer.directory) == layer.digest

    @pytest.mark.parametrize("name", ["host-traces", "read-only-root", "setuid", "first-process", "system-calls"])
    def test_the_walls_hold_with_one(self, sandbox: BubblewrapSandbox, layer: Layer, name: str) -> None:
        words = (*selfcheck.host_strings(layer.directory), layer.directory.name, layer.directory.parent.name)
        (probe,) = selfcheck.run_selfcheck(Layered(sandbox, layer), [name], words)  # type: ignore[arg-type]
        assert probe.seen is None

    def test_another_one_takes_its_place(self, sandbox: BubblewrapSandbox, tmp_path: Path) -> None:
        layers = {name: by_hand(tmp_path / name, {"file": text}) for name, text in SIZES.items()}
        for name in ("tiny", "other", "tiny"):
            assert sh(sandbox, f"cat {LAYER}/file", layers[name]).stdout.decode() == SIZES[name]
        assert len(sandbox._idle) == 1

    def test_a_conversation_sees_it(self, sandbox: BubblewrapSandbox, layer: Layer) -> None:
        with sandbox.talk(Spec((f"{LAYER}/bin/hello",), cwd="/", layer=layer)) as channel:
            assert channel.receive(100, 20) == b"hello\n"

    def test_one_that_is_gone_is_said(self, sandbox: BubblewrapSandbox, tmp_path: Path) -> None:
        with pytest.raises(SandboxError, match="gone from the cache"):
            sh(sandbox, "true", Layer(tmp_path / "nowhere", "0" * 64, {}))
        assert sh(sandbox, "echo fine", None).stdout == b"fine\n"

    @pytest.mark.parametrize("path", ["/opt", LAYER, f"{LAYER}/bin"])
    def test_nothing_is_mounted_over_it(self, sandbox: BubblewrapSandbox, path: str) -> None:
        with pytest.raises(ValueError, match="nothing can be mounted"):
            sandbox.run(Spec(("true",), mounts={path: Mount()}))

    def test_the_version_inside(self, sandbox: BubblewrapSandbox) -> None:
        shown = sh(sandbox, "python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'", None).stdout
        assert sandbox.python == shown.decode().strip()


class TestTar:
    def test_it_is_a_function_of_the_files(self, tmp_path: Path) -> None:
        tars = []
        for name in ("one", "two"):
            layer = by_hand(tmp_path / name, {"bin/hello": HELLO, "b": "", "a/" + "long" * 60: "x"})
            os.utime(layer.directory / "b", (1, 1))
            os.chmod(layer.directory / "b", 0o600)
            out = io.BytesIO()
            write_tar(layer.directory, out)
            tars.append(out.getvalue())
        assert tars[0] == tars[1]
        assert b"telling" not in tars[0]

    def test_members(self, tmp_path: Path) -> None:
        layer = by_hand(tmp_path, {"bin/hello": HELLO, "site/mod.py": "x"})
        (layer.directory / "link").symlink_to("bin/hello")
        out = io.BytesIO()
        write_tar(layer.directory, out)
        out.seek(0)
        with tarfile.open(fileobj=out) as tar:
            found = {m.name: (m.type, m.mode, m.linkname) for m in tar}
            assert {(m.uid, m.gid, m.uname, m.mtime) for m in tar} == {(0, 0, "", EPOCH)}
        top = LAYER.lstrip("/")
        assert found == {
            top: (tarfile.DIRTYPE, 0o755, ""),
            f"{top}/bin": (tarfile.DIRTYPE, 0o755, ""),
            f"{top}/bin/hello": (tarfile.REGTYPE, 0o755, ""),
            f"{top}/link": (tarfile.SYMTYPE, 0o777, "bin/hello"),
            f"{top}/site": (tarfile.DIRTYPE, 0o755, ""),
            f"{top}/site/mod.py": (tarfile.REGTYPE, 0o644, ""),
        }


class TestRefused:
    def test_a_path_of_the_host(self, tmp_path: Path) -> None:
        layer = by_hand(tmp_path, {"site/a.py": "x" * 5000 + "/some/scratch/agent/site", "site/b.py": ""})
        layer_build._refuse_traces(layer.directory, b"/another/scratch")
        with pytest.raises(SandboxError, match=r"site/a\.py in the layer names a path"):
            layer_build._refuse_traces(layer.directory, b"/some/scratch")

    @pytest.mark.parametrize(
        ("goal", "fine"), [("b.py", True), ("../bin/x", True), ("/etc", False), ("../../x", False)]
    )
    def test_a_link_that_leads_out(self, tmp_path: Path, goal: str, fine: bool) -> None:
        layer = by_hand(tmp_path, {"site/b.py": ""})
        (layer.directory / "site" / "link").symlink_to(goal)
        if fine:
            layer_build._refuse_traces(layer.directory, b"/trace")
            return
        with pytest.raises(SandboxError, match="the link site/link leads out"):
            layer_build._refuse_traces(layer.directory, b"/trace")

    def test_without_npm_the_remedy_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(SandboxError, match="npm is needed to install is-number@7") as caught:
            build_layer(tmp_path / "cache", Recipe(npm=("is-number@7.0.0",)), "3.11")
        assert "npm" in caught.value.remedy
        assert list((tmp_path / "cache").iterdir()) == []

    def test_a_package_that_is_not_to_be_had(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
        with pytest.raises(SandboxError, match=r"installing cowsay==6\.1 failed: ERROR: No matching distribution"):
            build_layer(tmp_path / "cache", Recipe(pip=("cowsay==6.1",)), "3.11")
        assert list((tmp_path / "cache").iterdir()) == []

    def test_what_another_interpreter_needs_besides(self, tmp_path: Path) -> None:
        info = tmp_path / "a-1.dist-info"
        info.mkdir()
        needs = ["backport; python_version < '3.0'", "old; python_version >= '3.99'", "here", "x; extra == 'x'"]
        lines = ["Metadata-Version: 2.1", "Name: a", "Version: 1", *(f"Requires-Dist: {need}" for need in needs)]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        found = list(layer_build.metadata.distributions(path=[str(tmp_path)]))
        assert sorted(layer_build._lacking(found, "3.11")) == ["here"]
        assert sorted(layer_build._lacking(found, "3.99")) == ["here", "old"]


@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}(/[a-z]{1,3})?", fullmatch=True), st.text(max_size=5), max_size=4))
def test_the_digest_is_that_of_names_and_contents(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str]
) -> None:
    clash = {name for name in files for other in files if other.startswith(name + "/")}
    fine = {name: text for name, text in files.items() if name not in clash}
    trees = []
    for order in (sorted(fine), sorted(fine, reverse=True)):
        place = tmp_path_factory.mktemp("tree")
        (place / "a-telling-name").mkdir()
        trees.append(by_hand(place, {name: fine[name] for name in order}))
    assert trees[0].digest == trees[1].digest
    (trees[0].directory / "zzzz").write_text("more")
    normalise(trees[0].directory)
    assert tree_digest(trees[0].directory) != trees[1].digest
