"""`trap check --live AGENT`: traps before a real agent and a model.

Invariant: it is a run, with its directory, limits and resume; a trap that could not be measured is not one that passed.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

import click

from harness.cli.output import committed
from harness.config import RunConfig, load
from harness.live import CONDITIONS, live_results
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.progress import Progress
from harness.run import execute, prepare
from harness.rundir import RunDir


def split(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """(ids of traps, `key.path=value` words)."""
    return tuple(w for w in words if "=" not in w), [w for w in words if "=" in w]


def check_live(
    config: RunConfig, agent: str, words: Sequence[str], out: Path | None, max_cost: Decimal | None, as_json: bool
) -> int:
    """Run the traps of `config` by that agent, without memory and with the evidence. Exit 3 on any problem."""
    if strange := [w for w in words if w.partition("=")[0] in ("conditions", "traps", "fold", "agent.name")]:
        raise UsageFault(f"{strange[0]!r}: a live check sets this itself")
    base = config.model_dump(mode="json", by_alias=True)
    fixed = {"conditions": list(CONDITIONS), "agent": {"name": agent}}
    whole = load(None, [w for w in words if not w.startswith("agent.")], {**base, **fixed})
    whole = load(None, [w for w in words if w.startswith("agent.")], whole.model_dump(mode="json", by_alias=True))
    place = out or Path("runs") / f"live-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}"
    ready = prepare(whole, place)
    with Progress(len(ready.plan.arms), len(ready.plan.arms) - len(ready.owed)) as progress:
        execute(ready, progress.tell, max_cost=max_cost)
    found = live_results(committed(RunDir.open(place)), ready.plan.traps)
    problems = [problem for each in found for problem in each.problems()]
    if as_json:
        click.echo(json.dumps({"run": str(place), "problems": [asdict(p) for p in problems]}, indent=1))
    else:
        for each in found:
            click.echo(f"{'NO  ' if each.problems() else 'ok  '}{each.trap}: {each.line()}")
            for problem in each.problems():
                click.echo(f"    {problem.gate}: {problem.message}")
        click.echo(f"run: {place} (agent {ready.plan.meaning['agent']})")
    return REJECTED if problems else COMPLETE
