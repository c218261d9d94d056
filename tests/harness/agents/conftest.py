"""Both sandboxes for the tests of agents, what to do where there is no docker engine, and a host full of canaries."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from containers.sandbox import Sandbox, SandboxError
from harness.boxes import open_sandbox
from harness.config import load
from harness.outcome import UsageFault

REQUIRE = "DREAMBENCH_REQUIRE_DOCKER"


@pytest.fixture(scope="session")
def docker_box() -> Iterator[Sandbox]:
    """The docker sandbox as a run opens it; nothing with its label is left at the end."""
    from containers import docker

    label = f"agents-{secrets.token_hex(6)}"
    try:
        opened = open_sandbox(load(None, ["sandbox=docker"]), label)
    except (UsageFault, SandboxError) as error:
        if os.environ.get(REQUIRE) == "1":
            pytest.fail(f"{REQUIRE}=1, but docker cannot be used: {error}")
        pytest.skip(f"docker cannot be used: {error}")
    with opened as sandbox:
        yield sandbox
    assert docker.sweep(label) == 0


@pytest.fixture(params=["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def any_box(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox in turn."""
    name = {"bubblewrap": "box", "docker": "docker_box"}[request.param]
    found: Sandbox = request.getfixturevalue(name)
    return found


#: Where programs look for what they were told before, below the home of their user.
_HOME = (
    *(
        ".claude/CLAUDE.md",
        ".claude/projects/-work/memory/MEMORY.md",
        ".claude/rules/all.md",
        ".claude/skills/a/SKILL.md",
    ),
    *(".codex/AGENTS.md", ".codex/memories/MEMORY.md", ".codex/prompts/a.md", ".codex/skills/a/SKILL.md"),
    *(
        ".config/mini-swe-agent/.env",
        ".gemini/GEMINI.md",
        ".config/opencode/AGENTS.md",
        ".aider.conf.yml",
        ".agents/a.md",
    ),
)
_ABOVE = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".claude/CLAUDE.md", "CONVENTIONS.md")
_VARIABLES = (
    *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "CODEX_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CODEX_HOME"),
    *("CLAUDE_CONFIG_DIR", "MSWEA_GLOBAL_CONFIG_DIR", "GITHUB_TOKEN", "USER", "LOGNAME", "DREAMBENCH_NOTE"),
)


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """A host whose home, environment and current directory are full of canaries: place -> canary.

    A sandbox that is to see it has to be opened after this.
    """
    monkeypatch.setenv("DREAMBENCH_CACHE", str(load(None).cache_dir))  # what is in the user's home stays the cache
    home, work = tmp_path / "home", tmp_path / "above" / "work"
    work.mkdir(parents=True)
    found = {}
    for folder, names in ((home, _HOME), (work.parent, _ABOVE), (work, _ABOVE)):
        for name in names:
            canary = found[f"{folder.name}/{name}"] = f"canary{secrets.token_hex(8)}"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{canary}\n", encoding="utf-8")
    for name in _VARIABLES:
        found[name] = f"canary{secrets.token_hex(8)}"
        monkeypatch.setenv(name, found[name])
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    return found


@pytest.fixture(params=["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def planted_box(request: pytest.FixtureRequest, planted: Mapping[str, str]) -> Iterator[Sandbox]:
    """Each sandbox in turn, opened on that host."""
    if request.param == "docker":
        request.getfixturevalue("docker_box")  # skips where there is no engine
    label = f"planted-{secrets.token_hex(6)}"
    with open_sandbox(load(None, [f"sandbox={request.param}"]), label) as sandbox:
        yield sandbox
