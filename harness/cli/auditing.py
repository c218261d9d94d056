"""`trap candidates`, `trap audit`, `trap opacity`: what is frozen, what people and rules say of the traps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from analysis import opacity as classifier
from analysis.agreement import Agreement
from analysis.report.layout import Document, as_markdown, as_text
from harness.audit import load_key, write_sheets
from harness.audit_score import NOT_RATED, constructs, kappas, read_ratings
from harness.audit_tables import candidates_document, opacity_document, score_document, verbatim_document
from harness.audit_verbatim import look
from harness.boxes import open_sandbox
from harness.candidates import FILE, Amendment, amend, found, freeze, read, states
from harness.cli.places import folder as folder_type
from harness.cli.places import placed, places, selected
from harness.config import RunConfig
from harness.outcome import COMPLETE, INCOMPLETE, REJECTED, UsageFault
from harness.plan import load_oracles, select
from oracles.solutions import SolutionError
from traps.folds import load_fold
from traps.hosted import HostedError
from traps.load import Trap, discover
from traps.schema import TrapError


def _places(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where traps and oracles lie, and in what form to print."""
    command = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)
    return places(click.option("--markdown", is_flag=True, help="Print Markdown.")(command))


def _of_fold(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--fold", default="", metavar="NAME", help="Only the traps of a fold (default: all found).")(
        command
    )


def _all(config: RunConfig, fold: str = "") -> dict[str, Trap]:
    """Every trap, or those of a fold, that can be read; the others are named on standard error."""
    return _readable(config, fold)[0]


def _readable(config: RunConfig, fold: str) -> tuple[dict[str, Trap], int]:
    """The same, and how many were left out."""
    root, traps = Path(config.traps_dir), dict[str, Trap]()
    if not root.is_dir():
        raise UsageFault(f"{root}: no such traps folder")
    found = [f"{folder.parent.name}_{folder.name}" for folder in discover(root)]
    names = list(load_fold(root, fold).members) if fold else found
    for name in names:
        try:
            traps |= select(config.model_copy(update={"traps": (name,)}), config.cache_dir)
            load_oracles(config, {name: traps[name]})
        except (TrapError, HostedError, SolutionError, UsageFault) as error:
            traps.pop(name, None)
            click.echo(f"left out: {name}: {error}", err=True)
    return traps, len(names) - len(traps)


def _put(document: Document, data: object, markdown: bool, as_json: bool) -> None:
    if markdown and as_json:
        raise UsageFault("--markdown and --json: name one")
    text = json.dumps(data, indent=1, default=str) if as_json else (as_markdown if markdown else as_text)(document)
    click.echo(text.rstrip("\n"))


# -- candidates ------------------------------------------------------------------------------------------------


@click.group()
def candidates() -> None:
    """Freeze traps by digest before any memory condition runs on them, and amend what was frozen, with a reason."""


@candidates.command("freeze")
@click.argument("ids", nargs=-1, metavar="[TRAP]...")
@click.option("--all", "every", is_flag=True, help="Every trap found.")
@_places
def freeze_(
    ids: tuple[str, ...], every: bool, traps_dir: Path | None, oracles_dir: Path | None, markdown: bool, as_json: bool
) -> int:
    """Add traps that are new. Those frozen as they are stay; one that has changed stops it, and nothing is added."""
    if not ids and not every:
        raise UsageFault("name a trap, or --all")
    config = placed(traps_dir, oracles_dir, ids)
    there = found(config, selected(config))
    added = freeze(Path(config.traps_dir), there)
    if as_json:
        click.echo(json.dumps([json.loads(line.model_dump_json(exclude_none=True)) for line in added], indent=1))
    else:
        click.echo(f"{Path(config.traps_dir) / FILE}: {len(added)} frozen, {len(there) - len(added)} were already")
    return COMPLETE


@candidates.command("amend")
@click.argument("name", metavar="TRAP")
@click.argument("act", type=click.Choice(["changed", "removed", "restored"]))
@click.option("--reason", required=True, help="Why: it stays in the record.")
@_places
def amend_(
    name: str,
    act: Amendment,
    reason: str,
    traps_dir: Path | None,
    oracles_dir: Path | None,
    markdown: bool,
    as_json: bool,
) -> int:
    """Say that a frozen trap was changed, removed or put back. The lines before it stay."""
    config = placed(traps_dir, oracles_dir, (name,))
    now = None if act == "removed" else found(config, selected(config))[name]
    line = amend(Path(config.traps_dir), name, act, reason, now)
    click.echo(line.model_dump_json() if as_json else f"{name}: {act} on {line.at.date()}: {line.reason}")
    return COMPLETE


@candidates.command("show")
@_places
def show_(traps_dir: Path | None, oracles_dir: Path | None, markdown: bool, as_json: bool) -> int:
    """Every candidate and every amendment. Exit 3 when a frozen trap has changed, or is gone, without one."""
    config = placed(traps_dir, oracles_dir)
    record = read(Path(config.traps_dir) / FILE)
    told = states(record, {name: now.digest for name, now in found(config, _all(config)).items()})
    lines = {t: [json.loads(line.model_dump_json()) for line in c.lines] for t, c in record.items()}
    data = {trap: {"state": state, "lines": lines.get(trap, [])} for trap, state in told.items()}
    _put(candidates_document(record, told), data, markdown, as_json)
    return REJECTED if {"changed since", "not there"} & set(told.values()) else COMPLETE


# -- audit -----------------------------------------------------------------------------------------------------


@click.group(invoke_without_command=True)
@click.option("--verbatim", is_flag=True, help="By rule: does an event hold the facts, and would pasting be enough?")
@click.option("--trap", "ids", multiple=True, metavar="TRAP", help="With --verbatim: only this trap (may be repeated).")
@click.option("--sandbox", default="bubblewrap", help="With --verbatim: bubblewrap or docker.")
@_of_fold
@_places
@click.pass_context
def audit(
    context: click.Context,
    verbatim: bool,
    ids: tuple[str, ...],
    sandbox: str,
    fold: str,
    traps_dir: Path | None,
    oracles_dir: Path | None,
    markdown: bool,
    as_json: bool,
) -> int:
    """What people (`sheets`, `score`) and rules (--verbatim) say of the traps.

    --verbatim: exit 3 when pasting is enough for a trap, 2 when one could not be looked at.
    """
    if context.invoked_subcommand:
        if verbatim or ids or fold or traps_dir or oracles_dir or markdown or as_json:
            raise UsageFault(f"audit {context.invoked_subcommand}: options stand behind its name, without --verbatim")
        return COMPLETE
    if not verbatim:
        raise UsageFault("name `sheets` or `score`, or give --verbatim")
    if ids and fold:
        raise UsageFault("--trap and --fold: name one")
    config, left_out = placed(traps_dir, oracles_dir, ids, f"sandbox={sandbox}"), 0
    if not ids:
        traps, left_out = _readable(config, fold)
        if not traps:
            raise UsageFault("there is no trap that can be read")
        config = config.model_copy(update={"traps": tuple(traps)})
    with open_sandbox(config, "audit") as box:
        seen = look(config, box)
    _put(verbatim_document(seen), [asdict(one) | {"enough": one.enough} for one in seen], markdown, as_json)
    if any(one.enough for one in seen):
        return REJECTED
    return INCOMPLETE if left_out or any(one.stopped for one in seen) else COMPLETE


@audit.command()
@click.option("--out", "folder", type=folder_type, required=True, help="A folder for key, guide and sheets.")
@click.option("--seed", type=int, required=True, help="Names, order and sample follow from it; it is in the key.")
@click.option("--rater", "raters", multiple=True, default=("a", "b"), show_default=True, help="One for each rater.")
@_of_fold
@_places
def sheets(
    folder: Path,
    seed: int,
    raters: tuple[str, ...],
    fold: str,
    traps_dir: Path | None,
    oracles_dir: Path | None,
    markdown: bool,
    as_json: bool,
) -> int:
    """Write rating sheets: constructs of all traps, blind; the deep audit of a 30 % sample, by name."""
    config = placed(traps_dir, oracles_dir)
    traps = _all(config, fold)
    key = write_sheets(folder, traps, {t: now.digest for t, now in found(config, traps).items()}, raters, seed)
    if as_json:
        click.echo(key.model_dump_json(by_alias=True))
    else:
        click.echo(f"{folder}: {len(key.cases)} traps, {len(key.deep)} of them deep; raters {', '.join(key.raters)}")
        click.echo("hand out the deep sheets when the construct sheets are back, and key.json to nobody")
    return COMPLETE


@audit.command()
@click.argument("folder", type=folder_type, metavar="FOLDER")
@_of_fold
@_places
def score(
    folder: Path, fold: str, traps_dir: Path | None, oracles_dir: Path | None, markdown: bool, as_json: bool
) -> int:
    """Kappa, confusion and disagreements of filled sheets; what no person has rated is said to be not rated."""
    config = placed(traps_dir, oracles_dir)
    key, traps = load_key(folder), _all(config, fold)
    there = {name: (traps[name].construct, now.digest) for name, now in found(config, traps).items()}
    ratings = read_ratings(folder, key, there)
    agreed = {q: {f"{a}/{b}": _agreement(k) for (a, b), k in kappas(ratings, q).items()} for q in ratings.asked}
    rows = [asdict(row) | {"says": row.says} for row in constructs(ratings)]
    missing = {q: sorted(set(asked) - set(ratings.rated(q))) for q, asked in ratings.asked.items()}
    unlike = {question: ratings.disagreements(question) for question in ratings.asked}
    data = {"seed": key.seed, "agreement": agreed, "constructs": rows, "disagreements": unlike, NOT_RATED: missing}
    _put(score_document(ratings), data, markdown, as_json)
    return COMPLETE


def _agreement(found: Agreement) -> dict[str, object]:
    kappa = None if found.kappa is None else float(found.kappa)
    interval = [found.interval.low, found.interval.high] if found.interval else None
    return {"n": found.n, "agreed": found.agreed, "kappa": kappa, "interval": interval, "why": found.why}


# -- opacity ---------------------------------------------------------------------------------------------------


@click.command()
@click.option("--permutations", type=click.IntRange(99, 99_999), default=classifier.PERMUTATIONS, show_default=True)
@click.option("--seed", type=int, default=classifier.SEED, show_default=True, help="Of the permutations.")
@_of_fold
@_places
def opacity(
    permutations: int,
    seed: int,
    fold: str,
    traps_dir: Path | None,
    oracles_dir: Path | None,
    markdown: bool,
    as_json: bool,
) -> int:
    """How well a text classifier guesses the construct from the prompts alone. A report, not a gate."""
    traps = _all(placed(traps_dir, oracles_dir), fold).values()
    try:
        texts = ["\n".join(trap.texts[session.prompt] for session in trap.spec.session) for trap in traps]
        corpus = classifier.corpus(texts, [t.construct for t in traps], [t.spec.fixture for t in traps])
        folds = {"one trap": classifier.single(corpus), "one fixture": classifier.grouped(corpus)}
    except ValueError as error:
        raise UsageFault(f"opacity: {error}") from error
    told = [
        classifier.guessed(corpus, fold, name, within=within, permutations=permutations, seed=seed)
        for name, fold in folds.items()
        for within in (False, True)
    ]
    document = opacity_document(corpus, told)
    words = {name: [asdict(word) for word in of] for name, of in classifier.giveaways(corpus).items()}
    alone = classifier.by_group_alone(corpus)
    data = {"seed": seed, "guessed": [asdict(one) for one in told], "by fixture alone": alone, "words": words}
    _put(document, data, markdown, as_json)
    return COMPLETE
