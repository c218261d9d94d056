"""A bundle means the same wherever it is looked at: another directory, time zone, locale, hash seed and umask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.cli.main import cli
from harness.outcome import UsageFault

from .bundle_kit import Fold

PLACES = (
    {"TZ": "UTC0", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"},
    {"TZ": "AHEAD-13:30", "LC_ALL": "C", "PYTHONHASHSEED": "1"},
    {"TZ": "BEHIND11", "LC_ALL": "POSIX", "PYTHONHASHSEED": "4242"},
)
MAIN = "from harness.cli.main import main; main()"


def asked(place: dict[str, str], cwd: Path, *words: str) -> tuple[int, Any]:
    """(exit status, what it printed as JSON) of a command that is started there."""
    cwd.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words, "--json"],
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **place},
        umask=0o077,
        timeout=120,
    )
    assert done.stdout, done.stderr.decode()
    return done.returncode, json.loads(done.stdout)


@pytest.mark.long
def test_verdicts_and_analysis_are_the_same_everywhere(fold: Fold, tmp_path: Path) -> None:
    verified, replayed = [], []
    for number, place in enumerate(PLACES):
        cwd = tmp_path / f"place {number}"
        status, told = asked(place, cwd, "verify", str(fold.revealed), "--key", str(fold.signing))
        verified.append((status, {k: v for k, v in told.items() if k != "seconds"}))
        status, told = asked(place, cwd, "replay", str(fold.revealed), "--read")
        replayed.append((status, {k: v for k, v in told.items() if k not in ("judging", "wall")}))
    assert [status for status, _ in verified] == [0, 0, 0]
    assert verified[0][1]["holds"] is True
    assert verified[1:] == verified[:1] * 2
    assert [status for status, _ in replayed] == [0, 0, 0]
    assert replayed[0][1]["analysis"] == []
    assert replayed[0][1]["scored"] > 0
    assert all(view["same"] for view in replayed[0][1]["views"])
    assert replayed[1:] == replayed[:1] * 2


def test_a_sample_is_the_same_everywhere(fold: Fold, tmp_path: Path) -> None:
    words = ("replay", str(fold.revealed), "--sample", "2", "--seed", "7")
    (one, first), (other, second) = (asked(place, tmp_path, *words) for place in PLACES[1:])
    assert (one, other) == (0, 0)
    assert first["arms"] == second["arms"] == 2
    assert first["analysis"] is None  # of a part of the arms there is none


@pytest.mark.parametrize(
    "words",
    [
        ("resume",),
        ("freeze", "-o", "again.dbf"),
        ("memory", "verify"),
        ("plan", "amend", "budget.k=3", "--reason", "x"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_an_unpacked_run_is_not_opened_as_ones_own(fold: Fold, tmp_path: Path, words: tuple[str, ...]) -> None:
    runner = CliRunner()
    assert runner.invoke(cli, ["unpack", str(fold.revealed), "-o", str(tmp_path / "u")]).exit_code == 0
    verb = 2 if words[0] in ("memory", "plan") else 1
    done = runner.invoke(cli, [*words[:verb], str(tmp_path / "u" / "run"), *words[verb:]], standalone_mode=False)
    assert isinstance(done.exception, UsageFault)
    assert "was unpacked from a bundle" in str(done.exception)


def test_a_sealed_bundle_is_not_half_unpacked(fold: Fold, tmp_path: Path) -> None:
    words = ["unpack", str(fold.sealed), "-o", str(tmp_path / "u")]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert "--unseal" in str(done.exception)
    assert not (tmp_path / "u").exists()
