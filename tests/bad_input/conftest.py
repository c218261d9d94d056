"""The real command line, and a copy of the mini trap to break."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

MINI = Path(__file__).parents[1] / "data" / "mini"


@dataclass(frozen=True)
class Place:
    """A copy of the mini trap's folders, with a run directory beside them that does not exist yet."""

    root: Path

    @property
    def trap(self) -> Path:
        return self.root / "traps" / "c1" / "label"

    @property
    def fixture(self) -> Path:
        return self.root / "traps" / "fixtures" / "mini" / "fixture.toml"

    @property
    def out(self) -> Path:
        return self.root / "run"

    @property
    def words(self) -> list[str]:
        """Where the traps are, and the smallest run of them."""
        return [
            f"traps_dir={self.root / 'traps'}",
            f"oracles_dir={self.root / 'oracles'}",
            "seeds=1",
            "conditions=B0",
            "readers=careful",
            "agent.name=nop",
        ]

    def edit(self, file: Path, old: str, new: str) -> None:
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    shutil.copytree(MINI / "traps", tmp_path / "traps")
    shutil.copytree(MINI / "oracles", tmp_path / "oracles")
    return Place(tmp_path)


def refused(done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    """One clear message with all `parts`, the right exit code, nothing on stdout and never a traceback."""
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    for part in parts:
        assert part in done.stderr, done.stderr
    assert done.stdout == ""
    first = done.stderr.splitlines()[0]
    assert first.startswith(("dreambench: ", "Usage: ")), done.stderr


def fingerprint(folder: Path) -> dict[str, str]:
    """Every path below a folder with what it holds."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
        for p in sorted(folder.rglob("*"))
    }
