"""Bad words on the command line and bad configuration files: the key or the line is named, nothing is begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..command import dreambench, installed
from .conftest import Place, refused

WORDS = [
    (("conditions=B0,B99",), ("conditions: unknown B99", "EVIDENCE")),
    (("conditions=B0,B0",), ("conditions", "named twice: B0")),
    (("conditions=[]",), ("conditions",)),
    (("budget.kk=3",), ("budget.kk",)),
    (("limits.wall=Infinity",), ("limits.wall",)),
    (("sandbox=none",), ("sandbox", "bubblewrap")),
    (("agent.name=oracle",), ("agent.name: unknown 'oracle'", "reference")),
    (("agent.name=command",), ("agent.command",)),
    (("one.toml", "two.toml"), ("one configuration file at most", "one.toml, two.toml")),
    (("nowhere.toml",), ("nowhere.toml", "No such file")),
    (("--facts-from", "/nowhere"), ("/nowhere/facts.json", "No such file")),
    (("--no-such-option",), ("--no-such-option",)),
    (("--jobs", "many"), ("--jobs",)),
]


@pytest.mark.parametrize(("words", "says"), WORDS, ids=[" ".join(words) for words, _ in WORDS])
def test_a_bad_word_is_named(words: tuple[str, ...], says: tuple[str, ...], place: Place) -> None:
    base = [w for w in place.words if w.split("=")[0] not in {word.split("=")[0] for word in words}]
    refused(dreambench("run", *base, "--out", place.out, *words), 1, *says)
    assert not place.out.exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seeds = 2\nseeds == 3\n", ("line 2",)),
        ("seeds = 2\n[budget]\nkk = 3\n", ("budget.kk",)),
        ("schema = 9\n", ("schema",)),
        ("fold = 3\n", ("fold",)),
    ],
)
def test_a_bad_configuration_file_is_named(text: str, says: tuple[str, ...], place: Place) -> None:
    file = place.root / "fold.toml"
    file.write_text(text)
    refused(dreambench("run", file, "--out", place.out), 1, "fold.toml", *says)
    assert not place.out.exists()


@pytest.mark.parametrize("verb", ["status", "report", "show", "resume", "clean"])
def test_what_is_no_run_is_not_touched(verb: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    refused(dreambench(verb, tmp_path), 1, str(tmp_path), "no run here")
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]
    refused(dreambench(verb, tmp_path / "none"), 1, "no run here")


@pytest.mark.parametrize("words", [("--version",), ("status", "none")])
def test_a_forked_call_ends_like_the_installed_program(words: tuple[str, ...], tmp_path: Path) -> None:
    """Which the other tests of this room rely on."""
    one, other = dreambench(*words, cwd=tmp_path), installed(*words, cwd=tmp_path)
    assert (one.returncode, one.stdout, one.stderr) == (other.returncode, other.stdout, other.stderr)
    assert one.returncode == (0 if words == ("--version",) else 1)
