"""`trap check`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.admission import check_trap
from harness.boxes import open_sandbox
from harness.config import load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.plan import select
from traps.gates import Problem
from traps.hosted import HostedError
from traps.schema import TrapError


@click.group()
def trap() -> None:
    """Look at traps and check them."""


@trap.command()
@click.argument("ids", nargs=-1, metavar="[TRAP]...")
@click.option("--all", "every", is_flag=True, help="Every trap found.")
@click.option("--traps", "traps_dir", type=click.Path(path_type=Path), help="Traps folder (default: ours).")
@click.option("--oracles", "oracles_dir", type=click.Path(path_type=Path), help="Oracles folder (default: ours).")
@click.option("--sandbox", default="bubblewrap", help="bubblewrap or docker.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(
    ids: tuple[str, ...], every: bool, traps_dir: Path | None, oracles_dir: Path | None, sandbox: str, as_json: bool
) -> int:
    """Check traps: the format, then every declared solution against its hidden oracle. Exit 3 on any problem."""
    if not ids and not every:
        raise UsageFault("name a trap, or --all")
    places = {k: str(v) for k, v in (("traps_dir", traps_dir), ("oracles_dir", oracles_dir)) if v is not None}
    config = load(None, [f"sandbox={sandbox}"], {"traps": list(ids), **places})
    try:
        traps = select(config, config.cache_dir)
    except (TrapError, HostedError) as error:
        raise UsageFault(str(error), REJECTED) from error
    problems: list[Problem] = []
    with open_sandbox(config, "check") as box:
        for found in traps.values():
            report = check_trap(config, found, box)
            problems += report.problems
            if not as_json:
                click.echo(f"{'ok  ' if not report.problems else 'NO  '}{found.id}: {'; '.join(report.evidence)}")
                for problem in report.problems:
                    click.echo(f"    {problem.gate}: {problem.where}: {problem.message}")
    if as_json:
        click.echo(json.dumps([p.__dict__ for p in problems], indent=1))
    return REJECTED if problems else COMPLETE
