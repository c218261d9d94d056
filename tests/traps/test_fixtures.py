"""Fixtures: what a digest covers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from traps.fixtures import load_fixture

MINI = Path(__file__).parent.parent / "data" / "mini" / "traps" / "fixtures"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("fixture.toml", '"-q"', '"-qq"'),
        ("fixture.toml", "smallest", "least"),
        ("repo/src/mini/labels.py", "label", "sign"),
        ("repo/tests/test_labels.py", "box", "tin"),
    ],
)
def test_the_digest_covers_what_the_file_says_and_every_file_of_the_tree(
    file: str, old: str, new: str, tmp_path: Path
) -> None:
    shutil.copytree(MINI, tmp_path / "fixtures")
    before = load_fixture(tmp_path / "fixtures", "mini", tmp_path).digest
    assert load_fixture(MINI, "mini", tmp_path).digest == before
    path = tmp_path / "fixtures" / "mini" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert load_fixture(tmp_path / "fixtures", "mini", tmp_path).digest != before
