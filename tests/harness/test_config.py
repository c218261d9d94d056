"""Configuration: words, files, and messages that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import load
from harness.outcome import UsageFault


def test_words_reach_nested_keys_with_their_types() -> None:
    config = load(None, ["budget.k=3", "conditions=B0,B5", 'agent.command=["a","b c"]', "traps=c1_x", "jobs=2"])
    assert (config.budget.k, config.conditions, config.agent.command) == (3, ("B0", "B5"), ("a", "b c"))
    assert (config.traps, config.jobs) == (("c1_x",), 2)


def test_words_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("seeds = 2\n[budget]\nk = 4\ntokens = 100\n")
    config = load(file, ["budget.k=5"])
    assert (config.seeds, config.budget.k, config.budget.tokens) == (2, 5, 100)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("budget.kk=3", r"budget\.kk"),
        ("seeds=0", "seeds"),
        ("seeds=many", "seeds"),
        ("sandbox=none", "sandbox"),
        ("nonsense", "expected key.path=value"),
        ("seeds.x=1", "seeds"),
        ("readers=gullible", "readers"),
    ],
)
def test_a_bad_word_is_named(word: str, message: str) -> None:
    with pytest.raises(UsageFault, match=message):
        load(None, [word])


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("seeds = 2\nseeds == 3\n")
    with pytest.raises(UsageFault, match=r"run\.toml: .*line 2"):
        load(file)


def test_places_are_no_part_of_the_meaning() -> None:
    one = load(None, ["jobs=1", "cache=/a", "traps_dir=/b"])
    two = load(None, ["jobs=7", "cache=/c", "traps_dir=/d"])
    assert one.semantic() == two.semantic()
    assert load(None, ["budget.k=5"]).semantic() != one.semantic()
