"""`compare`: two runs that differ in one factor, or in nothing.

Invariant: both runs are only read; plans that differ in anything that was not named are refused.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from analysis.compare import compare_runs
from analysis.plain import plain
from analysis.records import RecordError
from analysis.report.comparison import document
from harness.archive import without_places
from harness.cli.output import committed
from harness.cli.pages import html_option, only_one, put
from harness.comparing import FACTORS, Taken, meet, parse_pairs, take
from harness.outcome import COMPLETE, INCOMPLETE, Outcome, UsageFault
from harness.rows import outcome_counts, rows
from harness.rundir import RunDir

_run = click.Path(path_type=Path)


@click.command()
@click.argument("first", type=_run, metavar="A")
@click.argument("second", type=_run, metavar="B")
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="NAME",
    help=f"What was varied: {', '.join(FACTORS)}, or a key of the plan (config.budget.k). Again for more than one.",
)
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="FIRST:SECOND",
    help="Condition FIRST of A against SECOND of B, beside each condition (but the controls) that both runs have.",
)
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, every p as an exact fraction and a number.")
def compare(
    first: Path,
    second: Path,
    factors: tuple[str, ...],
    pairs: tuple[str, ...],
    markdown: bool,
    html: Path | None,
    as_json: bool,
) -> int:
    """Runs A and B: exact contrasts over equal draws, drift of the controls, cells that changed.

    Refused when the plans differ in anything but the named factor. Without a factor the plans must be equal: a repeat,
    in which only drift is looked at. Exit 2 while either run is incomplete.
    """
    only_one(markdown=markdown, as_json=as_json, html=html)
    a, b = _take(RunDir.open(first)), _take(RunDir.open(second))
    met = meet(a, b, factors, parse_pairs(pairs))
    try:
        found = compare_runs(met.first, met.second, met.asked)
    except RecordError as error:
        raise UsageFault(f"{first}, {second}: {error}") from error
    complete = not (a.owed or b.owed)
    if as_json:
        data = {"setting": plain(met.setting), "comparison": plain(found), "complete": complete}
        click.echo(json.dumps(data, indent=1, allow_nan=False))
    else:
        put(document(met.setting, found), markdown=markdown, html=html)
    return COMPLETE if complete else INCOMPLETE


def _take(home: RunDir) -> Taken:
    stored, records = home.description(), committed(home)
    counts = outcome_counts(records, stored.arms, len(stored.readers))
    return take(
        home,
        rows(records, without_places(home, stored)),
        counts["planned"],
        counts["owed"] + counts[Outcome.INVALID.value],
    )
