"""`run` and `resume`: from words to a finished run directory."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from harness.bundle import layout
from harness.cli.dry import dry_run
from harness.cli.output import MONEY, committed
from harness.config import RunConfig, load
from harness.outcome import COMPLETE, INCOMPLETE, Outcome, UsageFault
from harness.preregistration.plan_freeze import prepare_anew
from harness.preregistration.plan_start import Amend, held, told
from harness.progress import Progress
from harness.reporting import MARKDOWN, PAGE, report, write
from harness.rows import outcome_counts
from harness.run import Prepared, execute, prepare, stored_config
from harness.rundir import RunDir


def _leave(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a start that may differ from its frozen plan."""
    key = click.Path(path_type=Path)
    command = click.option(
        "--max-cost", type=MONEY, metavar="USD", help="What all sessions of the run together may cost."
    )(command)
    command = click.option("--sign", "key", type=key, help="Key for an amendment (default: your own).")(command)
    return click.option("--amend", "reason", help="Leave to differ from the frozen plan: why, in one line.")(command)


@click.command()
@click.argument("words", nargs=-1, metavar="[CONFIG.toml] [KEY.PATH=VALUE]...")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory (default: runs/<time>).")
@click.option("--facts-from", type=click.Path(path_type=Path), help="Reuse the draw of this run (marked as such).")
@click.option("--jobs", "-j", type=click.IntRange(0), help="Arms at a time (default: one a core).")
@click.option("--dry-run", "dry", is_flag=True, help="Run nothing: say what would be run, and what it may cost.")
@click.option("--like", type=click.Path(path_type=Path), help="Run that --dry-run estimates from (default: newest).")
@_leave
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def run(
    words: tuple[str, ...],
    out: Path | None,
    facts_from: Path | None,
    jobs: int | None,
    reason: str | None,
    key: Path | None,
    max_cost: Decimal | None,
    dry: bool,
    like: Path | None,
    as_json: bool,
) -> int:
    """Run a fold: every trap x condition x seed x history of the configuration.

    In an existing run directory it goes on with what is owed, and refuses if the configuration differs. Without a
    configuration it follows the plan that was frozen there (dreambench plan freeze).
    """
    files = [w for w in words if "=" not in w]
    if len(files) > 1:
        raise UsageFault(f"one configuration file at most: {', '.join(files)}")
    base: dict[str, Any] = {}
    if facts_from is not None:
        base["facts_from"] = str(facts_from.resolve())
    if out is not None and not words and facts_from is None and (out / layout.PLAN).exists():
        config = stored_config(RunDir.open(out))
    else:
        config = load(Path(files[0]) if files else None, [w for w in words if "=" in w], base)
    if jobs is not None:
        config = config.model_copy(update={"jobs": jobs})
    if like is not None and not dry:
        raise UsageFault("--like: says what a dry run estimates from (--dry-run)")
    if dry:
        return dry_run(config, out, like, as_json)
    return _go(config, out or _fresh(), as_json, _asked(reason, key), max_cost)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="RUN")
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--jobs", "-j", type=click.IntRange(0), help="Arms at a time (default: one a core).")
@_leave
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def resume(
    folder: Path,
    words: tuple[str, ...],
    jobs: int | None,
    reason: str | None,
    key: Path | None,
    max_cost: Decimal | None,
    as_json: bool,
) -> int:
    """Go on with a run: the arms that are owed (never finished, or invalid)."""
    stored = stored_config(RunDir.open(folder), {} if jobs is None else {"jobs": jobs})
    if files := [w for w in words if "=" not in w]:
        raise UsageFault(f"{files[0]!r}: a run is resumed with its own configuration (only KEY=VALUE words)")
    config = load(None, words, stored.model_dump(mode="json", by_alias=True))
    return _go(config, folder, as_json, _asked(reason, key), max_cost)


def _asked(reason: str | None, key: Path | None) -> Amend | None:
    if reason is None and key is not None:
        raise UsageFault("--sign: signs an amendment; say its reason with --amend")
    return None if reason is None else Amend(reason, key)


def _fresh() -> Path:
    now = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{now}-{os.getpid()}"


def _go(config: RunConfig, out: Path, as_json: bool, amend: Amend | None, max_cost: Decimal | None) -> int:
    ready = prepare_anew(config, out, amend) if amend else prepare(config, out)
    amended = len(held(ready.folder)[1]) if amend else 0
    if ready.plan.family and (unmet := ready.plan.unmet):
        click.echo(
            f"the family {ready.plan.family.name} names conditions that this run does not have: {', '.join(unmet)} "
            "(what needs them is reported as unavailable or not measured)",
            err=True,
        )
    with Progress(len(ready.plan.arms), len(ready.plan.arms) - len(ready.owed)) as progress:
        execute(ready, progress.tell, _on_the_way, amend=amend, max_cost=max_cost)
    if amend and amended == len(held(ready.folder)[1]):
        click.echo("--amend: nothing differs from the plan; no amendment was made", err=True)
    return _finish(ready, out, as_json)


def _on_the_way(point: str) -> None:
    if point == "run:stopping":
        click.echo("stopping: waiting for the sessions that still run (Ctrl-C leaves at once)", err=True)


def _finish(ready: Prepared, out: Path, as_json: bool) -> int:
    records = committed(ready.folder)
    counts = outcome_counts(records, len(ready.plan.arms), len(ready.plan.readers))
    complete = not counts["owed"] and not counts[Outcome.INVALID.value]
    made = report(ready.folder, records)
    write(ready.folder, made)
    if as_json:
        click.echo(json.dumps({"run": str(out), "plan": ready.plan.digest, "outcomes": counts, "complete": complete}))
    else:
        click.echo(made.brief)
        for label, value in told(ready.folder, ready.folder.description()):
            click.echo(f"{label}: {value}")
        click.echo(f"results: {out}\nreport:  {out / MARKDOWN}\npage:    {out / PAGE}")
    return COMPLETE if complete else INCOMPLETE
