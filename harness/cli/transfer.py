"""`transfer`: runs with different wake agents or authors of memories, side by side.

Invariant: every run is only read; runs that differ in anything else are refused.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from analysis.family import FamilyError
from analysis.plain import plain
from analysis.records import RecordError
from analysis.report.transferring import document
from analysis.transfer import transfer as set_side_by_side
from harness.cli.output import committed
from harness.cli.pages import html_option, only_one, put
from harness.outcome import COMPLETE, INCOMPLETE, UsageFault
from harness.rundir import RunDir
from harness.transferring import read, side_by_side


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN RUN...")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, every p as an exact fraction and a number.")
def transfer(runs: tuple[Path, ...], markdown: bool, html: Path | None, as_json: bool) -> int:
    """Who wrote the memory by who used it: a cell for each condition and run, never pooled.

    The runs have equal traps, oracles, conditions, budgets and families, and differ in the agent, its model or the
    model that memories ask. A cell whose warm-up fails shows no value. Exit 2 while a run is incomplete.
    """
    only_one(markdown=markdown, as_json=as_json, html=html)
    sides = [read(home, committed(home)) for home in map(RunDir.open, runs)]
    setting, given = side_by_side(sides)
    try:
        found = set_side_by_side(given)
    except (RecordError, FamilyError) as error:
        raise UsageFault(f"{', '.join(map(str, runs))}: {error}") from error
    complete = not any(side.owed for side in sides)
    if as_json:
        data = {"setting": plain(setting), "transfer": plain(found), "complete": complete}
        click.echo(json.dumps(data, indent=1, allow_nan=False))
    else:
        put(document(setting, found), markdown=markdown, html=html)
    return COMPLETE if complete else INCOMPLETE
