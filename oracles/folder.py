"""An oracle folder as data: source of the checks, declared solutions, one digest over all of it.

Invariant: nothing of the folder is executed here; the source travels as bytes into a judge's sandbox.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from oracles.solutions import Expectation, OverlayFile, SolutionError, load_expectations, load_overlay

NOTHING, MUTATED = "nothing", "mutated"


@dataclass(frozen=True)
class OracleFolder:
    """`overlays` has the files of every solution that has a folder, by name."""

    source: bytes
    expectations: tuple[Expectation, ...]
    overlays: Mapping[str, Mapping[str, OverlayFile]]
    digest: str

    def reference(self, history: str) -> Expectation:
        """The first declared solution that passes in this history. Raises SolutionError when there is none."""
        for row in self.expectations:
            if row.outcome == "pass" and row.history in (None, history) and not row.automatic:
                return row
        raise SolutionError(f"no solution passes in the history {history!r}")


def load_oracle(folder: Path) -> OracleFolder:
    """Raises SolutionError naming what is missing or malformed."""
    try:
        source = (folder / "oracle.py").read_bytes()
    except OSError as error:
        raise SolutionError(f"{folder / 'oracle.py'}: {error.strerror}") from error
    rows = load_expectations(folder)
    overlays = {row.name: load_overlay(folder, row) for row in rows if not row.automatic}
    return OracleFolder(source, rows, overlays, _digest(folder, source, overlays))


def _digest(folder: Path, source: bytes, overlays: Mapping[str, Mapping[str, OverlayFile]]) -> str:
    total = hashlib.sha256()
    parts = {"oracle.py": source, "expect.toml": (folder / "expect.toml").read_bytes()}
    parts |= {f"solutions/{name}/{p}": f.data for name, files in overlays.items() for p, f in files.items()}
    for name in sorted(parts):
        total.update(f"{len(name.encode())}:{name}:{len(parts[name])}:".encode() + parts[name])
    return total.hexdigest()
