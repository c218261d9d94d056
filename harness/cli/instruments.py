"""`trap instruments`: do the traps of these runs measure at all? Checks of the instrument, never a ranking of memories.

Invariant: exit 0 only if every rule holds; what the runs do not tell is "not measured" and does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from analysis.instruments import Line, Setting, check, lonely, owed
from analysis.rates import cells
from analysis.report.layout import Document, Section, Table, as_markdown, as_text
from harness.cli.output import committed
from harness.cli.places import placed, places
from harness.outcome import COMPLETE, REJECTED
from harness.reporting import run_data
from harness.rundir import RunDir
from traps.load import discover
from traps.schema import TrapFile, read_toml

_HEADS = ("construct", "rule", "status", "seen", "at (reader, background)")


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@places
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def instruments(
    runs: tuple[Path, ...], traps_dir: Path | None, oracles_dir: Path | None, markdown: bool, as_json: bool
) -> int:
    """Over finished runs: no memory fails, poison harms, evidence suffices, and memories differ in every construct.

    Exit 3 when a rule does not hold, or when a trap that no memory passes does not say why.
    """
    settings, poisoned = _settings(runs)
    lines, alone = check(settings, poisoned), lonely(settings)
    reasons = _reasons(Path(placed(traps_dir, oracles_dir).traps_dir))
    silent = owed(alone, reasons)
    if as_json:
        said = {"rules": [asdict(line) for line in lines], "evidence_only": {t: reasons.get(t, "") for t in alone}}
        click.echo(json.dumps(said, indent=1))
    else:
        click.echo((as_markdown if markdown else as_text)(_document(settings, lines, alone, reasons)))
    return REJECTED if silent or any(line.status != "holds" for line in lines) else COMPLETE


def _settings(runs: Sequence[Path]) -> tuple[list[Setting], set[str]]:
    found, poisoned = [], set[str]()
    for path in runs:
        home = RunDir.open(path)
        data = run_data(home, committed(home))
        poisoned |= data.poisoned
        haystack = int(home.description().config.get("haystack", 0))
        matched = cells(data.arms, "matched")
        for reader in sorted({cell.reader for cell in matched}):
            found.append(Setting(reader, haystack, tuple(c for c in matched if c.reader == reader)))
    return found, poisoned


def _reasons(root: Path) -> dict[str, str]:
    """Why a trap is there although no memory passes it, as its file says it."""
    files = (read_toml(folder / "trap.toml", TrapFile) for folder in discover(root))
    return {found.id: found.evidence_only for found in files}


def _document(
    settings: Sequence[Setting], lines: Sequence[Line], alone: Sequence[str], reasons: dict[str, str]
) -> Document:
    told = (
        "Checks of the instrument, with the agent of these runs; they rank no memory. Matched cells: all histories "
        f"of a trap right. Settings: {'; '.join(s.name for s in settings)}.",
    )
    rules = Table("Rules by construct", _HEADS, tuple((x.construct, x.rule, x.status, x.value, x.where) for x in lines))
    rows = tuple((trap, reasons.get(trap) or "no reason in its file") for trap in alone)
    only = Table("Traps that no memory passed", ("trap", "why it is there"), rows)
    return Document(
        "Instrument checks", told, (Section("Constructs", (), (rules,)), Section("Evidence only", (), (only,)))
    )
