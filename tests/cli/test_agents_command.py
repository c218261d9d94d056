"""`agents`, and what `doctor` says of them, on a cache of our own. Packages come from a folder, never a registry."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from containers.layer_build import build_layer, find_layer, own_version
from containers.relay_usage import Dialect
from harness.agents import NAMES, WITH_MODEL, make_agent
from harness.cli.main import cli
from harness.config import load
from harness.outcome import COMPLETE, USAGE, UsageFault

PACKAGE = "mini_swe_agent-2.4.6"
_FILES = {
    "minisweagent/__init__.py": "VALUE = 41\n",
    f"{PACKAGE}.dist-info/METADATA": "Metadata-Version: 2.1\nName: mini-swe-agent\nVersion: 2.4.6\n",
    f"{PACKAGE}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{PACKAGE}.dist-info/RECORD": "",
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with toolchains and without programs, and the one package that pip can find."""
    real, folder, wheels = load(None).cache_dir, tmp_path / "cache", tmp_path / "wheels"
    folder.mkdir()
    wheels.mkdir()
    for toolchain in real.glob("toolchain-*"):
        (folder / toolchain.name).symlink_to(toolchain)
    with zipfile.ZipFile(wheels / f"{PACKAGE}-py3-none-any.whl", "w") as wheel:
        for name, text in _FILES.items():
            wheel.writestr(name, text)
    monkeypatch.setenv("DREAMBENCH_CACHE", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return folder


def call(*words: str) -> Result:
    """Raises what the command raises."""
    return CliRunner().invoke(cli, list(words), standalone_mode=False, catch_exceptions=False)


def rows(*words: str) -> dict[str, dict[str, Any]]:
    """What `agents` prints as JSON, by name."""
    return {row["name"]: row for row in json.loads(call("agents", *words, "--json").stdout)}


def test_every_agent_is_one_line(cache: Path) -> None:
    lines = call("agents", *WITH_MODEL).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", *WITH_MODEL]
    assert list(rows()) == list(NAMES)


def test_the_dialects_are_those_that_the_agent_takes(cache: Path) -> None:
    for name, row in rows().items():
        for dialect in Dialect:
            words = [f"agent.name={name}", 'agent.command=["true"]', "model.name=m", f"model.dialect={dialect}"]
            try:
                spoken = make_agent(load(None, words)).needs.dialect
            except UsageFault:
                spoken = None
            assert (spoken is dialect) == (dialect in row["dialects"]), (name, dialect)
    assert rows("codex")["codex"]["dialects"] == ["responses"]
    assert rows("mini-swe")["mini-swe"]["dialects"][0] == "chat"


def test_the_card_is_that_of_the_plan(cache: Path) -> None:
    words = ["model.name=some-model", "model.calls=17"]
    (row,) = rows("mini-swe", *words).values()
    assert row["card"] == make_agent(load(None, ["agent.name=mini-swe", *words])).card
    assert (rows("mini-swe")["mini-swe"]["card"], rows("command", *words)["command"]["card"]) == ("", "")
    assert rows("nop")["nop"]["card"].startswith("nop ")


def test_a_model_that_an_agent_cannot_call_is_said_in_its_place(cache: Path) -> None:
    found = rows("codex", "gemini", "model.name=m", "model.dialect=gemini")
    assert found["codex"]["problem"].startswith("model.dialect: the codex agent does not speak 'gemini'")
    assert (found["gemini"]["problem"], "model m" in found["gemini"]["card"]) == ("", True)


@pytest.mark.long
def test_programs_are_installed_once_and_then_found(cache: Path) -> None:
    assert (rows("mini-swe")["mini-swe"]["layer"], list(cache.glob("layer-*"))) == (None, [])
    done = call("agents", "--install", "mini-swe", "edit")
    assert (done.return_value, done.stderr.splitlines()[0]) == (
        COMPLETE,
        "mini-swe: installing mini-swe-agent==2.4.6 ...",
    )
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:]] == [
        ["mini-swe", "installed", "0"],
        ["edit", "-", "push"],
    ]
    recipe = make_agent(load(None, ["agent.name=mini-swe", "model.name=m"])).needs.recipe
    assert recipe is not None
    layer = find_layer(cache, recipe, own_version())
    assert layer == build_layer(cache, recipe, own_version())  # what a run would take
    found = rows("mini-swe")["mini-swe"]["layer"]
    total = sum(path.stat().st_size for path in layer.directory.rglob("*") if path.is_file()) if layer else 0
    assert layer is not None
    assert found == {"digest": layer.digest, "bytes": total}
    assert call("agents", "--install", "mini-swe").stderr == "mini-swe: installed already\n"


@pytest.mark.long
def test_one_that_cannot_be_installed_does_not_keep_others_from_it(cache: Path) -> None:
    done = call("agents", "--install", "aider", "mini-swe", "--json")
    assert done.return_value == USAGE
    assert "aider: installing aider-chat==0.86.2 failed: " in done.stderr
    assert {row["name"]: bool(row["layer"]) for row in json.loads(done.stdout)} == {"aider": False, "mini-swe": True}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--install",), "--install: the programs of which agents"),
        (("--all",), "--all: goes with --install"),
        (("--install", "--all", "codex"), "--all: goes with --install"),
        (("cursor",), "unknown agent cursor"),
        (("model.nam=x",), "model.nam"),
    ],
)
def test_mistakes(words: tuple[str, ...], says: str, cache: Path) -> None:
    with pytest.raises(UsageFault, match=says):
        call("agents", *words)


def test_doctor_tells_what_is_missing_and_how_to_get_it(cache: Path) -> None:
    found = {row["what"]: row for row in json.loads(call("doctor", "--json").stdout)}
    assert found["relay"]["works"]
    assert {"pip", "npm"} <= found.keys()
    for name in WITH_MODEL:
        row = found[f"agent {name}"]
        assert (row["works"], row["needed"]) == (name == "edit", False)
        assert row["works"] or row["detail"] == f"not installed (remedy: dreambench agents --install {name})"
    assert list(cache.glob("layer-*")) == []
