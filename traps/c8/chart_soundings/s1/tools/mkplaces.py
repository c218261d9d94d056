#!/usr/bin/env python3
"""Make src/quaybook/_places.py and docs/places.md from the register chart/places.csv.

    python tools/mkplaces.py            write both files
    python tools/mkplaces.py --check    write nothing; exit 1 if a file is out of date

Where a berth has several lines the last one counts.
"""

from __future__ import annotations

import csv
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REGISTER = ROOT / "chart" / "places.csv"
MODULE = ROOT / "src" / "quaybook" / "_places.py"
DOCS = ROOT / "docs" / "places.md"

NOTICE = "Made by tools/mkplaces.py from chart/places.csv."
COLUMNS = ["berth", "max_cm", "depth_cm", "since", "notice"]

HEAD = '''"""The berths on the chart."""

from typing import NamedTuple


class Place(NamedTuple):
    """Lengths in centimetres; `since` is the day from which the line holds."""

    max_cm: int
    depth_cm: int
    since: str
    notice: str


PLACES = {
'''


def read_register(text: str) -> list[list[str]]:
    """The lines below the head. Raises ValueError for one that cannot be."""
    head, *lines = csv.reader(text.splitlines())
    if head != COLUMNS:
        raise ValueError(f"the columns are {','.join(COLUMNS)}")
    for number, line in enumerate(lines, start=2):
        if len(line) != len(COLUMNS) or not all(line) or '"' in line[4]:
            raise ValueError(f"line {number} has not its {len(COLUMNS)} columns")
        if not (line[1].isdecimal() and line[2].isdecimal()):
            raise ValueError(f"line {number}: lengths are whole centimetres")
        date.fromisoformat(line[3])
    return lines


def render_module(lines: list[list[str]]) -> str:
    places = {line[0]: line for line in lines}
    rows = [f'    "{b}": Place({m}, {d}, "{since}", "{notice}"),\n' for b, m, d, since, notice in sorted(places.values())]
    return f"# {NOTICE}\n{HEAD}{''.join(rows)}}}\n"


def render_docs(lines: list[list[str]]) -> str:
    out = [f"<!-- {NOTICE} -->", "# Berths on the chart", ""]
    out += ["| berth | longest vessel, cm | depth, cm | since | on the word of |", "|---|---|---|---|---|"]
    out += [f"| {' | '.join(line)} |" for line in sorted({line[0]: line for line in lines}.values())]
    out += ["", "## The register, line by line", ""]
    out += [f"{n}. {b}: {m} x {d}, {since} ({notice})" for n, (b, m, d, since, notice) in enumerate(lines, start=1)]
    return "\n".join([*out, ""])


def main(argv: list[str]) -> int:
    try:
        lines = read_register(REGISTER.read_text(encoding="utf-8"))
    except ValueError as error:
        print(f"places.csv: {error}", file=sys.stderr)
        return 1
    made = {MODULE: render_module(lines), DOCS: render_docs(lines)}
    if argv == ["--check"]:
        stale = [path for path, text in made.items() if path.read_text(encoding="utf-8") != text]
        for path in stale:
            print(f"out of date: {path.relative_to(ROOT)}", file=sys.stderr)
        return 1 if stale else 0
    for path, text in made.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
