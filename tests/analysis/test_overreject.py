"""The tables of docs/statistics.md are what the commands print, within simulation error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import overreject
from analysis.outcomes import from_csv

from .golden_kit import GOLDEN, fold

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "statistics.md"


def table(name: str) -> list[tuple[str, ...]]:
    """The rows of the table under a command of the page."""
    after = PAGE.read_text(encoding="utf-8").split(f"    python -m analysis.overreject {name}\n\n")[1]
    lines = after.split("\n\n")[0].splitlines()
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines if "---" not in line]


def test_exact_tables_are_the_page() -> None:
    assert table("boundaries") == overreject.boundaries()


@pytest.mark.parametrize(("name", "margin"), [("size", 0.04), ("coverage", 0.05)])
def test_simulated_tables_are_near_the_page(name: str, margin: float) -> None:
    """Near, because another release of numpy may draw other numbers, and fewer simulations run here."""
    rows = overreject.size(500) if name == "size" else overreject.coverage(200)
    printed = table(name)
    assert printed[0] == rows[0]
    assert len(printed) == len(rows)
    for ours, theirs in zip(rows[1:], printed[1:], strict=True):
        labels = -2
        assert ours[:labels] == theirs[:labels]
        assert [float(x) for x in ours[labels:]] == pytest.approx([float(x) for x in theirs[labels:]], abs=margin)


def test_a_table_of_needed_traps_has_one_line_a_design() -> None:
    printed = table("needed")
    assert [row[:2] for row in printed[1:]] == [
        (f"{a:.2f} against {b:.2f}", f"{c:.1f}") for a, b in overreject.RATES for c in (0.3, 0.6, 0.9)
    ]


def test_the_command_prints_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert overreject.main(["boundaries"]) == 0
    assert capsys.readouterr().out.strip() in PAGE.read_text(encoding="utf-8")
    assert overreject.main(["nothing"]) == 1
    assert re.search("unknown table 'nothing'", capsys.readouterr().err)


def test_the_example_of_the_page_is_the_published_fold() -> None:
    assert from_csv((GOLDEN / "v2_fold.csv").read_text(encoding="utf-8")) == fold()
