"""`replay`, `rescore`, `audit`: what was recorded, looked at once more.

Invariant: the source is never written; a difference or a breach exits 3 and stands in a table, and what was not looked
at is counted.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from analysis.export import differing
from analysis.report.layout import clean
from harness.auditing.audit import audit as audited
from harness.auditing.audit import audit_text
from harness.boxes import open_sandbox
from harness.bundle.access import Source, opened
from harness.bundle.derived import analysis
from harness.bundle.opened import open_run
from harness.cli.bundles import given_seal, unseal_option
from harness.cli.output import committed
from harness.config import RunConfig, load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.progress import Progress
from harness.replaying.replay import Replayed, replayed_text, sampled, write_replayed
from harness.replaying.replay import replay as replayed
from harness.replaying.rescore import rescore as rescored
from harness.replaying.rescore import rescored_text
from harness.replaying.views import Rebuilt, rebuild
from harness.reporting import report, write

_path = click.Path(path_type=Path)
_source = click.argument("source", type=_path, metavar="FOLD.dbf|RUN")
_jobs = click.option("--jobs", "-j", type=click.IntRange(0), default=0, help="At a time (default: one a core).")
_sandbox = click.option("--sandbox", type=click.Choice(["bubblewrap", "docker"]), default="bubblewrap")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
LISTED = 20


def _config(sandbox: str, jobs: int) -> RunConfig:
    """Of this machine: where a bundle was thawed there is no toolchain."""
    return load(None, [f"sandbox={sandbox}", f"jobs={jobs}"])


@click.command()
@_source
@click.option("--sample", type=click.IntRange(1), help="So many arms only, at random.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the sample: the same arms each time.")
@click.option("--read", "views", is_flag=True, help="Also rebuild what S3 was shown, from the frozen stores.")
@click.option("--out", "-o", type=_path, metavar="DIR", help="Write the replayed run, with its report, here.")
@_sandbox
@_jobs
@unseal_option
@_json
def replay(
    source: Path,
    sample: int | None,
    seed: int,
    views: bool,
    out: Path | None,
    sandbox: str,
    jobs: int,
    unseal: Path | None,
    as_json: bool,
) -> int:
    """Score every recorded change again, in fresh sandboxes, and compute the analysis from the new verdicts.

    Nothing is written over the source. Exit 3 when anything differs.
    """
    config = _config(sandbox, jobs)
    with opened(source, given_seal(unseal)) as found, open_sandbox(config, "replay") as box:
        run = found.run
        chosen = list(run.records) if sample is None else sampled(run.records, sample, seed)
        with Progress(len(chosen)) as progress:
            done = replayed(run, box, config.workers, chosen, progress.tell)
        rebuilt = list(rebuild(run, box, chosen)) if views else None
        numbers = _numbers(found, done, out)
    same = done.same and not numbers and not any(r.same is False for r in rebuilt or ())
    if as_json:
        rows = None if rebuilt is None else [vars(r) for r in rebuilt]
        click.echo(json.dumps({**done.plain(), "same": same, "analysis": numbers, "views": rows}, indent=1))
    else:
        click.echo(replayed_text(done))
        click.echo("\n".join([*_told_views(rebuilt), *_told_numbers(found, numbers)]))
    return COMPLETE if same else REJECTED


def _numbers(found: Source, done: Replayed, out: Path | None) -> list[str] | None:
    """Where the analysis of the new verdicts differs from the recorded one; None when only some arms were looked at."""
    whole = len(done.records) == done.of
    if not whole and out is None:
        return None
    with nullcontext(str(out)) if out else tempfile.TemporaryDirectory() as place:
        folder = write_replayed(found.run, done, Path(place) if out else Path(place) / "run")
        if out:
            write(folder, report(folder, committed(folder)))
        if not whole:
            return None
        recorded = found.analysis or analysis(found.run.folder)[0]
        try:
            return [clean(line) for line in differing(json.loads(recorded), json.loads(analysis(folder)[0]))]
        except (ValueError, RecursionError):
            return ["the recorded analysis is not JSON"]


def _told_numbers(found: Source, numbers: Sequence[str] | None) -> list[str]:
    if numbers is None:
        return ["analysis: not computed again from a part of the arms"]
    if not numbers:
        return ["analysis: the same"]
    return ["analysis: differs", *(f"  {line}" for line in numbers[:LISTED]), *_more(len(numbers))]


def _told_views(rebuilt: Sequence[Rebuilt] | None) -> list[str]:
    if rebuilt is None:
        return ["views: not rebuilt (--read does that)"]
    other = [r for r in rebuilt if r.same is False]
    reasons = Counter(r.why for r in rebuilt if r.same is None)
    lines = [f"views: {sum(r.same is True for r in rebuilt)} rebuilt the same, {len(other)} otherwise"]
    lines += [f"  {clean(r.arm)}: {clean(r.why)}" for r in other[:LISTED]]
    lines += _more(len(other))
    return lines + [f"  not rebuilt: {number}: {clean(why)}" for why, number in reasons.most_common(LISTED)]


def _more(number: int) -> list[str]:
    return [f"  and {number - LISTED} more"] if number > LISTED else []


@click.command()
@click.argument("folder", type=_path, metavar="RUN")
@click.option("--oracles", type=_path, required=True, metavar="DIR", help="Oracles as in oracles/: cN/name/oracle.py.")
@click.option("--out", "-o", type=_path, required=True, metavar="DIR", help="The new run.")
@_sandbox
@_jobs
def rescore(folder: Path, oracles: Path, out: Path, sandbox: str, jobs: int) -> int:
    """Score the recorded changes with another version of the oracles, as a new run that names its parent.

    A bundle has to be unpacked first: its run is then in DIR/run.
    """
    if not folder.is_dir():
        raise UsageFault(f"{folder}: not a run directory (remedy: dreambench unpack it, then name DIR/run)")
    config, run = _config(sandbox, jobs), open_run(folder)
    with open_sandbox(config, "rescore") as box, Progress(len(run.records)) as progress:
        done = rescored(run, box, oracles, out, config.workers, progress.tell)
    write(done.folder, report(done.folder, committed(done.folder)))
    click.echo(f"{rescored_text(done)}\n\nresults: {out}")
    return COMPLETE


@click.command()
@_source
@unseal_option
@_json
def audit(source: Path, unseal: Path | None, as_json: bool) -> int:
    """Look through what was recorded, by rule and without a model: what was touched, what held a fact, what passed
    without its evidence.

    Exit 3 when a rule was broken; notes are for a person to judge.
    """
    with opened(source, given_seal(unseal)) as found:
        done = audited(found.run)
    click.echo(json.dumps(done.as_data(), indent=1) if as_json else audit_text(done))
    return REJECTED if done.breaches else COMPLETE
