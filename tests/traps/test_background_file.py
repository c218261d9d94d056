"""The format of `background.toml`: what is wrong with a file is said by name, and what is taken is not drawn."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.config import ROOT
from traps.background import draw
from traps.background_file import load_background
from traps.schema import TrapError


def test_taken_values_are_not_drawn_again(tmp_path: Path) -> None:
    text = (ROOT / "tests/data/mini/traps/fixtures/mini/background.toml").read_text("utf-8")
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini" / "background.toml").write_text(text.replace("MREV-{digit:7}", "MREV-{digit:6}"), "utf-8")
    taken = {f"MREV-{n:06}" for n in range(1_000_000) if n % 10}
    found = draw(load_background(tmp_path, "mini"), 12, taken)
    assert not {m.ref for m in found} & taken


BROKEN = {
    "slot": ('text = "Labels for << some >>', 'text = "Labels for << sum >>', "'some' is not used"),
    "unknown": ("lie on the shelf `<< value >>`.", "lie << here >> on `<< value >>`.", "'here' has no value"),
    "author": ("by the << author >>, ", "", "'author' is not used"),
    "scope": ('closing = "This applies only to << place >>."', "", ""),
    "bits": ("sh-{hex:12}", "sh-{hex:4}", "under 48 bits"),
    "shape": ("sh-{hex:12}", "shelf {hex:12}", "has not the shape"),
    "topic": ('topic = "width of the printer"', 'topic = "mark of a crate"', "excluded topic"),
    "dates": ("ends = 2025-12-01", "ends = 2025-01-01", "begins lies after ends"),
    "key": ("begins =", "starts =", "starts"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_by_name(case: str, tmp_path: Path) -> None:
    old, new, message = BROKEN[case]
    text = (ROOT / "tests/data/mini/traps/fixtures/mini/background.toml").read_text("utf-8")
    assert old in text
    if case == "scope":
        new, text, message = "", text.replace(", on << place >>", ""), "'place' is not used"
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini" / "background.toml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(TrapError, match=re.escape(message)) as caught:
        load_background(tmp_path, "mini")
    assert "background.toml" in str(caught.value)
