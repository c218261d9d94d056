"""`run --dry-run`: what would be run, and what it would cost by what an earlier run used.

Invariant: nothing is drawn, written or asked; an estimate says which run it comes from, and where there is none, none
is made up.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from harness.config import RunConfig
from harness.ledger import Ledger
from harness.outcome import COMPLETE
from harness.plan import Arm
from harness.records import SessionRecord
from harness.run import load_plan, spelt_out
from harness.rundir import RunDir
from harness.spending import Estimate, estimate

RUNS = Path("runs")


def dry_run(config: RunConfig, out: Path | None, like: Path | None, as_json: bool) -> int:
    """Say what `run` would do. Raises UsageFault as `run` would, before anything is made."""
    config = spelt_out(config)
    plan = load_plan(config)
    owed = _owed(list(plan.arms), out)
    sessions = len(owed) * (2 + len(plan.readers))
    told: dict[str, Any] = {
        "plan": plan.digest,
        "agent": plan.meaning["agent"],
        "model": config.model.name,
        "traps": len(plan.traps),
        "arms": len(owed),
        "arms_by_condition": dict(Counter(arm.condition for arm in owed)),
        "sessions": sessions,
        "most_calls": sessions * config.model.calls if config.model.name and config.model.calls else None,
    }
    source = like or _newest()
    found = estimate(_sessions(source)) if source and config.model.name else None
    if as_json:
        click.echo(json.dumps({**told, "estimate": found and found.plain(sessions), "from": str(source or "")}))
        return COMPLETE
    click.echo(f"{len(owed)} arms of {told['traps']} traps, {sessions} sessions; agent {told['agent']}")
    for code, number in told["arms_by_condition"].items():
        click.echo(f"  {code}: {number} arms")
    if config.model.name:
        _tell(config, found, source, sessions, told["most_calls"])
    click.echo("nothing was run")
    return COMPLETE


def _tell(config: RunConfig, found: Estimate | None, source: Path | None, sessions: int, most: int | None) -> None:
    click.echo(f"model {config.model.name}: at most {most if most is not None else 'any number of'} calls")
    if found is None:
        where = f"{source} has no session that called a model" if source else "no earlier run was found (--like RUN)"
        click.echo(f"no estimate of tokens and cost: {where}")
        return
    click.echo(f"estimate from {found.sessions} sessions of {source} (mean; and if each were as the 90th of 100):")
    for name, mean, high in found.lines(sessions):
        click.echo(f"  {name}: {mean}; {high}")


def _owed(arms: list[Arm], out: Path | None) -> list[Arm]:
    if out is None or not (out / "run.json").exists():
        return arms
    path = RunDir.open(out).ledger
    if not path.exists():
        return arms
    with Ledger(path, read_only=True) as ledger:
        settled = ledger.settled()
    return [arm for arm in arms if arm.id not in settled]


def _newest() -> Path | None:
    """The newest run in the folder where runs go."""
    found = [path.parent for path in RUNS.glob("*/run.json")] if RUNS.is_dir() else []
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _sessions(source: Path) -> list[SessionRecord]:
    folder = RunDir.open(source)
    if not folder.ledger.exists():
        return []
    with Ledger(folder.ledger, read_only=True) as ledger:
        return [record for records in ledger.all_sessions().values() for record in records]
