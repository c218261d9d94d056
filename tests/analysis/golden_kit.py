"""The published fold as rows, and its published numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from analysis.outcomes import Outcomes, from_rows
from analysis.records import CellRecord, Outcome

GOLDEN = Path(__file__).resolve().parent.parent / "data" / "golden"


def load(name: str) -> dict[str, Any]:
    """One golden file."""
    data: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return data


def rows() -> list[dict[str, Any]]:
    """A row for each of the 6 x 60 x 3 cells."""
    traps = load("v2_traps")["traps"]
    return [
        {
            "trap": trap,
            "condition": condition,
            "seed": seed,
            "outcome": "pass" if value else "failed",
            "construct": traps[trap]["construct"],
            "family": traps[trap]["family"],
            "fixture": traps[trap]["repo"],
            "clean_start": traps[trap]["clean_start_s3"],
        }
        for condition, by_trap in load("v2_outcomes")["outcomes"].items()
        for trap, values in by_trap.items()
        for seed, value in enumerate(values, 1)
    ]


def fold() -> Outcomes:
    """The fold as checked outcomes."""
    return from_rows(rows())


def sides(first: str, second: str) -> tuple[list[CellRecord], list[CellRecord]]:
    """The cells of two conditions of the fold."""
    cells = fold().cells["main"]
    return [c for c in cells if c.condition == first], [c for c in cells if c.condition == second]


def metrics() -> dict[str, dict[str, float | None]]:
    """The published hygiene panel by metric, and the pass rates of conditions whose cells are not public."""
    found: dict[str, dict[str, float | None]] = {}
    stats = load("v2_stats")
    for condition, panel in stats["hygiene_panel"].items():
        for name, value in panel.items():
            found.setdefault(name, {})[condition] = value
    found["Pass@1"] = {name: row["s3"] / row["n"] for name, row in stats["per_condition"].items()}
    return found


def v1_cells(condition: str) -> list[CellRecord]:
    """The v1 cells of B5 or DF; null is an excluded cell."""
    words: dict[int | None, Outcome] = {1: "pass", 0: "failed", None: "invalid"}
    return [
        CellRecord(trap, "C1", condition, seed, words[value])
        for trap, values in load("v1_outcomes")["outcomes"][condition].items()
        for seed, value in enumerate(values, 1)
    ]
