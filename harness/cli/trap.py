"""`trap check`, `admit`, `list`, `funnel`, `fold`: look at traps, admit them, and freeze a set of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from harness import candidates as frozen_candidates
from harness.admission import Report, check_traps
from harness.admitted import append, attempt, attempts, standing
from harness.admitted import funnel as counted
from harness.boxes import open_sandbox
from harness.cli.auditing import audit, candidates, opacity
from harness.cli.authoring import new, tell_mended, with_oracle
from harness.cli.instruments import instruments
from harness.cli.live import check_live, split
from harness.cli.matrix import matrix
from harness.cli.output import MONEY
from harness.cli.places import folder, placed, places, selected, wanted, which
from harness.config import RunConfig
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.plan import load_oracles
from harness.rundir import replace_file
from traps.folds import FOLDER, Fold, fold_text, member_digest
from traps.load import Trap
from traps.schema import explain

#: Traps by construct in a whole fold.
QUOTAS = {"C1": 14, "C2": 6, "C3": 7, "C4": 3, "C5": 6, "C6": 5, "C7": 7, "C8": 4, "C9": 4, "C10": 4}


@click.group()
def trap() -> None:
    """Look at traps, check and admit them, and freeze folds."""


trap.add_command(new)
trap.add_command(candidates)
trap.add_command(audit)
trap.add_command(opacity)
trap.add_command(matrix)
trap.add_command(instruments)


@trap.command()
@which
@places
@click.option("--fix", is_flag=True, help="First mend what follows from the files themselves, each change told.")
@click.option("--live", metavar="AGENT", help="In place of the gates: this agent, with model.name=… and other keys.")
@click.option("--out", type=folder, help="With --live: where its run is kept (default: runs/live-<time>).")
@click.option("--max-cost", type=MONEY, metavar="USD", help="With --live: what it may cost.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(
    ids: tuple[str, ...],
    every: bool,
    sandbox: str,
    traps_dir: Path | None,
    oracles_dir: Path | None,
    fix: bool,
    live: str | None,
    out: Path | None,
    max_cost: Decimal | None,
    as_json: bool,
) -> int:
    """Check traps by every gate. Exit 3 on any problem."""
    ids, words = split(ids)
    config = wanted(ids, every, sandbox, traps_dir, oracles_dir)
    if live is not None:
        return check_live(config, live, words, out, max_cost, as_json)
    if words or out or max_cost:
        raise UsageFault(f"{(words or ['--out, --max-cost'])[0]!r}: only with --live AGENT")
    if fix:
        tell_mended(config, quiet=as_json)
    problems = []
    for found, report in _checked(config, quiet=as_json):
        problems += [{"trap": found.id, **asdict(problem)} for problem in report.problems]
    if as_json:
        click.echo(json.dumps(problems, indent=1))
    return REJECTED if problems else COMPLETE


@trap.command()
@which
@places
def admit(ids: tuple[str, ...], every: bool, sandbox: str, traps_dir: Path | None, oracles_dir: Path | None) -> int:
    """Check traps and write what was found into the record of admission, whatever it is. Exit 3 on any problem."""
    config = wanted(ids, every, sandbox, traps_dir, oracles_dir)
    rejected = False
    for found, report in _checked(config):
        append(Path(config.traps_dir), attempt(found, load_oracles(config, {found.id: found})[found.id], report))
        rejected |= bool(report.problems)
    return REJECTED if rejected else COMPLETE


def _checked(config: RunConfig, quiet: bool = False) -> Iterator[tuple[Trap, Report]]:
    """Each trap with its report, which is printed as it comes."""
    traps = selected(config)
    with open_sandbox(config, "check") as box:
        for found, ran in check_traps(config, traps.values(), box):
            report = with_oracle(config, found, ran)
            if not quiet:
                click.echo(f"{'ok  ' if not report.problems else 'NO  '}{found.id}: {'; '.join(report.evidence)}")
                click.echo(f"    ({report.seconds:.0f} s)", err=True)
                for problem in report.problems:
                    click.echo(f"    {problem.gate}: {problem.where}: {problem.message}{' (--fix)' * problem.fixable}")
            yield found, report


def _digests(config: RunConfig, traps: dict[str, Trap]) -> dict[str, str]:
    oracles = load_oracles(config, traps)
    return {name: member_digest(found.digest, oracles[name].digest) for name, found in traps.items()}


@trap.command("list")
@places
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(traps_dir: Path | None, oracles_dir: Path | None, as_json: bool) -> int:
    """Every trap with how it stands by the records of admission and of candidates, and the quotas of constructs."""
    config = placed(traps_dir, oracles_dir)
    traps = selected(config)
    digests = _digests(config, traps)
    states = standing(digests, attempts(Path(config.traps_dir)))
    record = frozen_candidates.read(Path(config.traps_dir) / frozen_candidates.FILE)
    as_frozen = frozen_candidates.states(record, digests)
    if as_json:
        told = [
            {"trap": name, "standing": states[name], "candidate": as_frozen[name], **_labels(t)}
            for name, t in traps.items()
        ]
        click.echo(json.dumps(told))
        return COMPLETE
    for name, found in traps.items():
        spec = found.spec
        clean = ", clean start" if spec.clean_start else ""
        candidate = f" [{as_frozen[name]}]" if record else ""
        click.echo(
            f"{states[name]:<14}{name:<28}{spec.fixture:<12}{spec.evidence:<16}{spec.skeleton}{clean}{candidate}"
        )
    gone = frozen_candidates.removed(record)
    have = Counter(found.construct for name, found in traps.items() if states[name] == "admitted" and name not in gone)
    click.echo("admitted of quota: " + ", ".join(f"{c} {have[c]}/{quota}" for c, quota in QUOTAS.items()))
    return COMPLETE


def _labels(found: Trap) -> dict[str, Any]:
    spec = found.spec
    names = ("family", "fixture", "skeleton", "evidence", "clean_start")
    return {"construct": found.construct, **{name: getattr(spec, name) for name in names}}


@trap.command()
@places
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def funnel(traps_dir: Path | None, oracles_dir: Path | None, as_json: bool) -> int:
    """From the records: traps authored, rejected by each gate on the way, admitted; frozen and amended."""
    config = placed(traps_dir, oracles_dir)
    told = attempts(Path(config.traps_dir))
    digests = _digests(config, selected(config))
    counts = counted(told, standing(digests, told))
    counts |= frozen_candidates.counts(frozen_candidates.read(Path(config.traps_dir) / frozen_candidates.FILE), digests)
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
@places
@click.option("--replace", is_flag=True, help="Freeze a fold of that name anew.")
@click.option("--unadmitted", is_flag=True, help="Also traps that are not admitted: for trials, not for results.")
def fold(
    name: str,
    ids: tuple[str, ...],
    title: str,
    traps_dir: Path | None,
    oracles_dir: Path | None,
    replace: bool,
    unadmitted: bool,
) -> int:
    """Freeze admitted traps as a fold, each with the digest of its trap and oracle; `run fold=NAME` runs them."""
    config = placed(traps_dir, oracles_dir, ids)
    path = Path(config.traps_dir) / FOLDER / f"{name}.toml"
    if path.exists() and not replace:
        raise UsageFault(f"{path}: there is a fold of that name (remedy: another name, or --replace)")
    digests = _digests(config, selected(config))
    if not unadmitted:
        _refuse_unadmitted(Path(config.traps_dir), digests)
    try:
        frozen = Fold(schema=1, name=name, title=title, members=digests)
    except ValidationError as error:
        raise UsageFault(f"{name}: {explain(error)}") from error
    try:
        path.parent.mkdir(exist_ok=True)
        replace_file(path, fold_text(frozen).encode(), mode=0o644)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
    click.echo(f"{path}: {len(frozen.members)} traps, digest {frozen.digest[:16]}")
    return COMPLETE


def _refuse_unadmitted(root: Path, digests: Mapping[str, str]) -> None:
    """Raises UsageFault for traps that are not admitted as they are, and for candidates that were removed."""
    states = standing(digests, attempts(root))
    if wrong := [f"{name} ({state})" for name, state in states.items() if state != "admitted"]:
        raise UsageFault(f"not admitted: {', '.join(wrong)} (remedy: dreambench trap admit, or --unadmitted)", REJECTED)
    told = frozen_candidates.states(frozen_candidates.read(root / frozen_candidates.FILE), digests)
    if gone := [name for name in digests if told.get(name) == "removed"]:
        raise UsageFault(f"removed from the candidates: {', '.join(gone)}", REJECTED)
