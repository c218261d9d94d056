"""`plan freeze|amend|show` and `key new|show`: what a run will be, signed before its first session.

Invariant: what these commands print of a file went through `clean`, and a private key is never printed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from analysis.report.layout import clean
from harness import run
from harness.bundle import layout
from harness.bundle.signing import PublicKey, default_key, load_public, new_key
from harness.config import load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.plan import differing
from harness.preregistration.plan_freeze import amend as amend_plan
from harness.preregistration.plan_freeze import freeze as freeze_plan
from harness.preregistration.plan_start import Amend, check_run
from harness.preregistration.preregister import (
    Amendment,
    Frozen,
    check_chain,
    circumstances,
    load_amendments,
    load_frozen,
    states,
)
from harness.rundir import RunDir

_file = click.Path(path_type=Path)


@click.group()
def plan() -> None:
    """Freeze what a run will be before its first session, and tell every later change."""


@plan.command()
@click.argument("words", nargs=-1, metavar="[CONFIG.toml] [KEY.PATH=VALUE]...")
@click.option("--out", type=_file, required=True, help="Run directory; it is prepared, and nothing is run.")
@click.option("--sign", "signer", type=_file, help="Private key (default: your own, made when there is none).")
def freeze(words: tuple[str, ...], out: Path, signer: Path | None) -> int:
    """Draw the facts of a run, commit to them, and sign the whole plan as OUT/plan.json."""
    files = [w for w in words if "=" not in w]
    if len(files) > 1:
        raise UsageFault(f"one configuration file at most: {', '.join(files)}")
    config = load(Path(files[0]) if files else None, [w for w in words if "=" in w])
    frozen, made = freeze_plan(config, out, signer)
    if made:
        click.echo(
            f"a key was made for you: {default_key()} (keep it; it is never put into a plan or a bundle)", err=True
        )
    click.echo(f"plan digest: {frozen.plan.plan_digest}")
    click.echo(f"signed by:   {frozen.signer.fingerprint}")
    click.echo(f"frozen at:   {frozen.plan.frozen} (the word of whoever signed)")
    click.echo("Publish this line before the first session, in a place that dates it and that you cannot edit:")
    click.echo(f"    sha256 {frozen.sha256} {layout.PLAN}")
    click.echo(f"Then: dreambench run --out {out}")
    return COMPLETE


@plan.command()
@click.argument("folder", type=_file, metavar="RUN")
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--reason", required=True, help="Why, in one line; it stands in every report.")
@click.option("--sign", "signer", type=_file, help="The key that signed the plan (default: your own).")
def amend(folder: Path, words: tuple[str, ...], reason: str, signer: Path | None) -> int:
    """Change a frozen plan while no session is committed. plan.json stays as it is; the change is signed beside it."""
    if files := [w for w in words if "=" not in w]:
        raise UsageFault(f"{files[0]!r}: a plan is amended by KEY=VALUE words")
    stored = run.stored_config(RunDir.open(folder))
    config = load(None, words, stored.model_dump(mode="json", by_alias=True))
    made = amend_plan(config, folder, Amend(reason, signer))
    for line in _amendment(made):
        click.echo(line)
    click.echo(
        f"Publish this line, too, before the first session:\n    sha256 {made.sha256} amendment {made.body.number}"
    )
    return COMPLETE


@plan.command()
@click.argument("path", type=_file, metavar="RUN|plan.json")
@click.option("--json", "as_json", is_flag=True, help="Print the plan and its amendments as JSON.")
def show(path: Path, as_json: bool) -> int:
    """A frozen plan, its amendments in order, and whether the run is still as planned. Exit 3 when it is not."""
    whole = path.is_dir()
    frozen = load_frozen(path / layout.PLAN if whole else path)
    amendments = load_amendments((path if whole else path.parent) / layout.AMENDMENTS)
    problems = check_chain(frozen, amendments)
    if whole:
        folder = RunDir.open(path)
        problems = check_run(folder, folder.description(), frozen, amendments)
    here = list(_here(RunDir.open(path), states(frozen, amendments)[-1])) if whole else []
    if as_json:
        told = {"plan": frozen.body, "sha256": frozen.sha256, "signer": frozen.signer.raw.hex(), "problems": problems}
        click.echo(json.dumps({**told, "amendments": [a.raw for a in amendments], "differing": here}, indent=1))
    else:
        for line in (
            *_plan(frozen),
            *(line for a in amendments for line in _amendment(a)),
            *_fit(whole, problems, here),
        ):
            click.echo(line)
    return REJECTED if problems else COMPLETE


def _plan(frozen: Frozen) -> Iterator[str]:
    told, config = frozen.plan, frozen.plan.meaning.get("config", {})
    family, fold = (told.meaning.get(key, {}).get("name", "none") for key in ("family", "fold"))
    says = ", ".join(f"{name} {value}" for name, value in told.sandbox.says.items())
    rows = [
        ("frozen at", f"{told.frozen} (the word of whoever signed)"),
        ("signed by", f"{frozen.signer.fingerprint} (the signature holds)"),
        ("sha256", frozen.sha256),
        ("plan digest", told.plan_digest),
        ("draw digest", f"{told.draw.digest}{' (facts of another run)' if told.draw.reused else ''}"),
        ("traps", f"{len(told.meaning.get('traps', {}))} (fold: {fold})"),
        ("conditions", ", ".join(told.meaning.get("conditions", {}))),
        ("arms", f"{told.arms.number} (sha256 of their names {told.arms.sha256[:16]})"),
        ("agent", str(told.meaning.get("agent"))),
        ("family", family),
        *((key, json.dumps(config[key])) for key in sorted(config)),
        ("sandbox", f"{told.sandbox.kind}: {says}"),
        ("code", told.code),
        ("versions", f"DreamBench-SWE {told.dreambench}, Python {told.python}"),
    ]
    for label, value in rows:
        yield clean(f"{label}: {value}")


def _amendment(amendment: Amendment) -> Iterator[str]:
    told = amendment.body
    when = f"after sessions of {told.begun} arms" if told.begun else "before the first session"
    yield clean(f"amendment {told.number}: {told.date}, {when}: {told.reason}")
    for line in told.differing:
        yield f"    {clean(line)}"


def _fit(whole: bool, problems: Sequence[str], here: Sequence[str]) -> Iterator[str]:
    for problem in problems:
        yield f"NO: {clean(problem)}"
    if whole and not problems:
        yield "the run is as in the plan"
    if here:
        yield "a start here would differ and need --amend (the sandbox was not looked at):"
        for line in here:
            yield f"    {clean(line)}"


def _here(folder: RunDir, planned: dict[str, object]) -> Iterator[str]:
    """In what this machine differs from the plan, without opening a sandbox; nothing is asked of a stranger's run."""
    if folder.description().unpacked:
        return
    current = circumstances()
    yield from differing({key: planned[key] for key in current}, current)
    try:
        config = run.stored_config(folder)
        yield from run.changed_keys(folder.description(), config, run.load_plan(config))
    except UsageFault as error:
        yield f"the traps of the plan are not here: {error}"


@click.group()
def key() -> None:
    """Keys that sign plans and bundles (Ed25519)."""


@key.command("new")
@click.argument("path", type=_file)
def new(path: Path) -> int:
    """Make a key: PATH (private, mode 0600) and PATH.pub."""
    _tell(new_key(path).public)
    return COMPLETE


@key.command("show")
@click.argument("path", type=_file, required=False)
def show_key(path: Path | None) -> int:
    """The public key and its fingerprint (default: your own key)."""
    _tell(load_public(path or default_key()))
    return COMPLETE


def _tell(public: PublicKey) -> None:
    click.echo(public.pem().decode(), nl=False)
    click.echo(f"fingerprint: {public.fingerprint}")
