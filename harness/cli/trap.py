"""`trap check` and `trap fold`: look at traps, and freeze a set of them."""

from __future__ import annotations

import json
from pathlib import Path

import click
from pydantic import ValidationError

from harness.admission import check_trap, others
from harness.boxes import open_sandbox
from harness.config import load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.plan import load_oracles, select
from harness.rundir import replace_file
from traps.folds import FOLDER, Fold, fold_text, member_digest
from traps.gates import Problem
from traps.hosted import HostedError
from traps.schema import TrapError, explain


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
    beside = others(config)
    with open_sandbox(config, "check") as box:
        for found in traps.values():
            report = check_trap(config, found, box, beside)
            problems += report.problems
            if not as_json:
                click.echo(f"{'ok  ' if not report.problems else 'NO  '}{found.id}: {'; '.join(report.evidence)}")
                for problem in report.problems:
                    click.echo(f"    {problem.gate}: {problem.where}: {problem.message}")
    if as_json:
        click.echo(json.dumps([p.__dict__ for p in problems], indent=1))
    return REJECTED if problems else COMPLETE


@trap.command()
@click.argument("name")
@click.argument("ids", nargs=-1, metavar="TRAP...", required=True)
@click.option("--title", required=True, help="One line on what the fold is for.")
@click.option("--traps", "traps_dir", type=click.Path(path_type=Path), help="Traps folder (default: ours).")
@click.option("--oracles", "oracles_dir", type=click.Path(path_type=Path), help="Oracles folder (default: ours).")
@click.option("--replace", is_flag=True, help="Freeze a fold of that name anew.")
def fold(
    name: str, ids: tuple[str, ...], title: str, traps_dir: Path | None, oracles_dir: Path | None, replace: bool
) -> int:
    """Freeze traps as a fold, each with the digest of its trap and oracle; `run fold=NAME` runs them."""
    places = {k: str(v) for k, v in (("traps_dir", traps_dir), ("oracles_dir", oracles_dir)) if v is not None}
    config = load(None, [], {"traps": list(ids), **places})
    path = Path(config.traps_dir) / FOLDER / f"{name}.toml"
    if path.exists() and not replace:
        raise UsageFault(f"{path}: there is a fold of that name (remedy: another name, or --replace)")
    try:
        found = select(config, config.cache_dir)
        oracles = load_oracles(config, found)
        members = {t: member_digest(each.digest, oracles[t].digest) for t, each in found.items()}
        frozen = Fold(schema=1, name=name, title=title, members=members)
    except (TrapError, HostedError) as error:
        raise UsageFault(str(error), REJECTED) from error
    except ValidationError as error:
        raise UsageFault(f"{name}: {explain(error)}") from error
    try:
        path.parent.mkdir(exist_ok=True)
        replace_file(path, fold_text(frozen).encode(), mode=0o644)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
    click.echo(f"{path}: {len(members)} traps, digest {frozen.digest[:16]}")
    return COMPLETE
