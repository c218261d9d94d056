"""`conditions`: every memory condition with its card and what it needs, and whether it clears conformance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from harness.outcome import COMPLETE, REJECTED, UsageFault
from memory_probe.conformance import ProbeResult, failures, run_conformance
from memory_probe.embed import lacking
from memory_probe.ladder import conditions as known_conditions
from memory_probe.opening import Condition


@click.command()
@click.argument("codes", nargs=-1, metavar="[CODE]...")
@click.option(
    "--check", is_flag=True, help="Run the conformance suite on those that need no model. Exit 3 when one fails."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def conditions(codes: tuple[str, ...], check: bool, as_json: bool) -> int:
    """The conditions with their cards: all of them, or those named."""
    known = known_conditions()
    if unknown := [code for code in codes if code not in known]:
        raise UsageFault(f"unknown condition {', '.join(unknown)} (there are: {', '.join(known)})")
    wanted = [known[code] for code in codes] or list(known.values())
    if check:
        return _check([c for c in wanted if not (c.card.instrument or c.kept_by_agent)], bool(codes), as_json)
    if as_json:
        click.echo(json.dumps([{**asdict(c.card), "needs": needs(c), "lacks": _lacks(c)} for c in wanted], indent=1))
    else:
        for condition in wanted:
            click.echo(condition_line(condition))
    return COMPLETE


def _check(wanted: Sequence[Condition], named: bool, as_json: bool) -> int:
    """Those that need a model are checked by the run that has one; an extra that is not here fails who named it."""
    asked = [c.card.code for c in wanted if c.card.needs_model]
    if asked and named:
        raise UsageFault(f"{', '.join(asked)}: needs a model, so the run that has one checks it before its sessions")
    without = {c.card.code: _lacks(c) or "needs a model" for c in wanted if c.card.needs_model or _lacks(c)}
    if not named:
        wanted = [c for c in wanted if c.card.code not in without]
        for code, why in without.items():
            click.echo(f"{code}: not checked: {why}", err=True)
    found = {condition.card.code: run_conformance(condition) for condition in wanted}
    if as_json:
        click.echo(json.dumps({code: [asdict(r) for r in results] for code, results in found.items()}, indent=1))
    else:
        for code, results in found.items():
            for line in _lines(code, results):
                click.echo(line)
    return REJECTED if any(failures(results) for results in found.values()) else COMPLETE


def _lines(code: str, results: Sequence[ProbeResult]) -> list[str]:
    """One line when all is well; else one more for each failed probe."""
    bad = failures(results)
    counts = {verdict: sum(r.verdict == verdict for r in results) for verdict in ("passed", "not applicable")}
    says = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    head = f"{'NO  ' if bad else 'ok  '}{code}: {says}{f', {len(bad)} failed' if bad else ''}"
    return [head, *(f"    {r.probe}: {r.evidence}" for r in bad)]


def needs(condition: Condition) -> str:
    """What must be there beside this package: `model`, an extra by its name, `agent` (one that keeps notes of its own),
    or "" for nothing."""
    if condition.card.needs_model:
        return "model"
    return "agent" if condition.kept_by_agent else condition.extra


def _lacks(condition: Condition) -> str:
    """Why its extra cannot be used here, or ""."""
    return lacking() if condition.extra else ""


def condition_line(condition: Condition) -> str:
    """One condition: code, version, what it needs (`-` = nothing), title, then what it shows and what should be known
    of it."""
    card = condition.card
    told = (("repaired", card.repaired), ("instrument", card.instrument), ("not installed", bool(_lacks(condition))))
    marks = ", ".join(word for word, there in told if there)
    tail = "; ".join(part for part in (", ".join(card.capabilities), marks) if part)
    wanted = needs(condition) or "-"
    return f"{card.code:<16} {card.version:<18} {wanted:<6} {card.title}{f' [{tail}]' if tail else ''}"
