"""`conditions`: every memory condition with its card, and whether it clears conformance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from harness.outcome import COMPLETE, REJECTED, UsageFault
from memory_probe.conformance import ProbeResult, failures, run_conformance
from memory_probe.ladder import conditions as known_conditions
from memory_probe.opening import Condition
from memory_probe.protocol import Card


@click.command()
@click.argument("codes", nargs=-1, metavar="[CODE]...")
@click.option("--check", is_flag=True, help="Run the conformance suite on them. Exit 3 when one fails.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def conditions(codes: tuple[str, ...], check: bool, as_json: bool) -> int:
    """The conditions with their cards: all of them, or those named."""
    known = known_conditions()
    if unknown := [code for code in codes if code not in known]:
        raise UsageFault(f"unknown condition {', '.join(unknown)} (there are: {', '.join(known)})")
    wanted = [known[code] for code in codes] or list(known.values())
    if check:
        return _check([c for c in wanted if not c.card.instrument], as_json)
    if as_json:
        click.echo(json.dumps([asdict(c.card) for c in wanted], indent=1))
    else:
        for condition in wanted:
            click.echo(card_line(condition.card))
    return COMPLETE


def _check(wanted: Sequence[Condition], as_json: bool) -> int:
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


def card_line(card: Card) -> str:
    """One card: code, version, title, then what it shows and what should be known of it."""
    marks = [
        word
        for word, there in (
            ("repaired", card.repaired),
            ("needs a model", card.needs_model),
            ("instrument", card.instrument),
        )
        if there
    ]
    tail = "; ".join(part for part in (", ".join(card.capabilities), ", ".join(marks)) if part)
    return f"{card.code:<16} {card.version:<18} {card.title}{f' [{tail}]' if tail else ''}"
