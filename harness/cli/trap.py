"""`trap check`, `admit`, `list`, `funnel`, `fold`: look at traps, admit them, and freeze a set of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from harness.admission import Report, check_trap, others
from harness.admitted import append, attempt, attempts, standing
from harness.admitted import funnel as counted
from harness.boxes import open_sandbox
from harness.config import RunConfig, load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.plan import load_oracles, select
from harness.rundir import replace_file
from traps.folds import FOLDER, Fold, fold_text, member_digest
from traps.hosted import HostedError
from traps.load import Trap
from traps.schema import TrapError, explain

#: Traps by construct in a whole fold.
QUOTAS = {"C1": 14, "C2": 6, "C3": 7, "C4": 3, "C5": 6, "C6": 5, "C7": 7, "C8": 4, "C9": 4, "C10": 4}

_folder = click.Path(path_type=Path)


def _places(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where traps and oracles lie."""
    for name in ("oracles", "traps"):
        text = f"{name.capitalize()} folder (default: ours)."
        command = click.option(f"--{name}", f"{name}_dir", type=_folder, help=text)(command)
    return command


def _which(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which traps, and in which sandbox."""
    command = click.option("--sandbox", default="bubblewrap", help="bubblewrap or docker.")(command)
    command = click.option("--all", "every", is_flag=True, help="Every trap found.")(command)
    return click.argument("ids", nargs=-1, metavar="[TRAP]...")(command)


def _config(traps_dir: Path | None, oracles_dir: Path | None, ids: tuple[str, ...] = (), *words: str) -> RunConfig:
    places = {k: str(v) for k, v in (("traps_dir", traps_dir), ("oracles_dir", oracles_dir)) if v is not None}
    return load(None, words, {"traps": list(ids), **places})


@click.group()
def trap() -> None:
    """Look at traps, check and admit them, and freeze folds."""


@trap.command()
@_which
@_places
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(
    ids: tuple[str, ...], every: bool, sandbox: str, traps_dir: Path | None, oracles_dir: Path | None, as_json: bool
) -> int:
    """Check traps by every gate. Exit 3 on any problem."""
    config = _wanted(ids, every, sandbox, traps_dir, oracles_dir)
    problems = []
    for found, report in _checked(config, quiet=as_json):
        problems += [{"trap": found.id, **asdict(problem)} for problem in report.problems]
    if as_json:
        click.echo(json.dumps(problems, indent=1))
    return REJECTED if problems else COMPLETE


@trap.command()
@_which
@_places
def admit(ids: tuple[str, ...], every: bool, sandbox: str, traps_dir: Path | None, oracles_dir: Path | None) -> int:
    """Check traps and write what was found into the record of admission, whatever it is. Exit 3 on any problem."""
    config = _wanted(ids, every, sandbox, traps_dir, oracles_dir)
    rejected = False
    for found, report in _checked(config):
        append(Path(config.traps_dir), attempt(found, load_oracles(config, {found.id: found})[found.id], report))
        rejected |= bool(report.problems)
    return REJECTED if rejected else COMPLETE


def _wanted(ids: tuple[str, ...], every: bool, sandbox: str, traps: Path | None, oracles: Path | None) -> RunConfig:
    if not ids and not every:
        raise UsageFault("name a trap, or --all")
    return _config(traps, oracles, ids, f"sandbox={sandbox}")


def _checked(config: RunConfig, quiet: bool = False) -> Iterator[tuple[Trap, Report]]:
    """Each trap with its report, which is printed as it comes."""
    traps, beside = _selected(config), others(config)
    with open_sandbox(config, "check") as box:
        for found in traps.values():
            report = check_trap(config, found, box, beside)
            if not quiet:
                click.echo(f"{'ok  ' if not report.problems else 'NO  '}{found.id}: {'; '.join(report.evidence)}")
                for problem in report.problems:
                    click.echo(f"    {problem.gate}: {problem.where}: {problem.message}")
            yield found, report


def _selected(config: RunConfig) -> dict[str, Trap]:
    try:
        return select(config, config.cache_dir)
    except (TrapError, HostedError) as error:
        raise UsageFault(str(error), REJECTED) from error


def _digests(config: RunConfig, traps: dict[str, Trap]) -> dict[str, str]:
    oracles = load_oracles(config, traps)
    return {name: member_digest(found.digest, oracles[name].digest) for name, found in traps.items()}


@trap.command("list")
@_places
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(traps_dir: Path | None, oracles_dir: Path | None, as_json: bool) -> int:
    """Every trap with how it stands by the record of admission, and the quotas of constructs."""
    config = _config(traps_dir, oracles_dir)
    traps = _selected(config)
    states = standing(_digests(config, traps), attempts(Path(config.traps_dir)))
    if as_json:
        click.echo(json.dumps([{"trap": name, "standing": states[name], **_labels(t)} for name, t in traps.items()]))
        return COMPLETE
    for name, found in traps.items():
        spec = found.spec
        clean = ", clean start" if spec.clean_start else ""
        click.echo(f"{states[name]:<14}{name:<28}{spec.fixture:<12}{spec.evidence:<16}{spec.skeleton}{clean}")
    have = Counter(found.construct for name, found in traps.items() if states[name] == "admitted")
    click.echo("admitted of quota: " + ", ".join(f"{c} {have[c]}/{quota}" for c, quota in QUOTAS.items()))
    return COMPLETE


def _labels(found: Trap) -> dict[str, Any]:
    spec = found.spec
    names = ("family", "fixture", "skeleton", "evidence", "clean_start")
    return {"construct": found.construct, **{name: getattr(spec, name) for name in names}}


@trap.command()
@_places
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def funnel(traps_dir: Path | None, oracles_dir: Path | None, as_json: bool) -> int:
    """From the record of admission: traps authored, rejected by each gate on the way, admitted."""
    config = _config(traps_dir, oracles_dir)
    told = attempts(Path(config.traps_dir))
    counts = counted(told, standing(_digests(config, _selected(config)), told))
    if as_json:
        click.echo(json.dumps(counts))
    else:
        for name, number in counts.items():
            click.echo(f"{number:>5}  {name}")
    return COMPLETE


@trap.command()
@click.argument("name")
@click.argument("ids", nargs=-1, metavar="TRAP...", required=True)
@click.option("--title", required=True, help="One line on what the fold is for.")
@_places
@click.option("--replace", is_flag=True, help="Freeze a fold of that name anew.")
def fold(
    name: str, ids: tuple[str, ...], title: str, traps_dir: Path | None, oracles_dir: Path | None, replace: bool
) -> int:
    """Freeze traps as a fold, each with the digest of its trap and oracle; `run fold=NAME` runs them."""
    config = _config(traps_dir, oracles_dir, ids)
    path = Path(config.traps_dir) / FOLDER / f"{name}.toml"
    if path.exists() and not replace:
        raise UsageFault(f"{path}: there is a fold of that name (remedy: another name, or --replace)")
    try:
        frozen = Fold(schema=1, name=name, title=title, members=_digests(config, _selected(config)))
    except ValidationError as error:
        raise UsageFault(f"{name}: {explain(error)}") from error
    try:
        path.parent.mkdir(exist_ok=True)
        replace_file(path, fold_text(frozen).encode(), mode=0o644)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
    click.echo(f"{path}: {len(frozen.members)} traps, digest {frozen.digest[:16]}")
    return COMPLETE
