"""A home of the harness' user with things in it that no agent may see."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import load

CANARY = "canary-7d1f0c"
_FILES = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".aider.conf.yml",
    ".aider/caches/model_prices_and_context_window.json",
    ".claude/CLAUDE.md",
    ".codex/AGENTS.md",
    ".config/opencode/AGENTS.md",
    ".config/opencode/opencode.json",
    ".env",
    ".gemini/GEMINI.md",
    ".gemini/settings.json",
    ".gitconfig",
    ".local/share/opencode/auth.json",
    ".netrc",
)
_VARIABLES = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GEMINI_SYSTEM_MD", "AIDER_MODEL", "OPENCODE_CONFIG_CONTENT")


def plant(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Make `folder/home` the home of this process, with the canary in files and in variables."""
    patch.setenv("DREAMBENCH_CACHE", str(load(None).cache_dir))  # which is in the real one
    for name in _FILES:
        path = folder / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{CANARY}\n")
    patch.setenv("HOME", str(folder / "home"))
    for name in _VARIABLES:
        patch.setenv(name, CANARY)
