"""The report of a large run: 1,500 cells at two reader levels, from the run directory to both files.

Invariant: making the directory is not timed; reading it, all that is computed, rendering and writing is.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.made_run import make_run
from bench.measure import Figure, seconds
from harness.cli.output import committed
from harness.reporting import MARKDOWN, PAGE, report, write


def figures() -> Iterator[Figure]:
    """Seconds and size against their bounds."""
    with tempfile.TemporaryDirectory() as name:
        folder = make_run(Path(name) / "run")
        took = [seconds(lambda: write(folder, report(folder, committed(folder)))) for _ in range(3)]
        page, tables = (folder.path / PAGE).stat().st_size, (folder.path / MARKDOWN).stat().st_size
        cells = len({(r.trap, r.condition, r.seed) for r in committed(folder)})
    text = f"{cells} cells, median of 3, worst {max(took):.1f} s"
    yield Figure("report of a 1,500-cell run, s", statistics.median(took), 5.0, note=text)
    yield Figure("its report.html, MB", page / 1e6, 8.0, note=f"report.md {tables / 1e3:.0f} kB")


if __name__ == "__main__":
    for figure in figures():
        print(figure.line(), flush=True)
