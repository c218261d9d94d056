"""`analyse`: exact inference over outcomes from anywhere, under a registered family.

Invariant: reads the files it is given and nothing else; a row or key that cannot be used is named and stops it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from analysis.family import SHIPPED, Family, FamilyError, load_family, shipped_family
from analysis.inference import Extras, infer
from analysis.inference_tables import document
from analysis.outcomes import Outcomes, from_csv, from_json
from analysis.records import RecordError
from harness.cli.pages import html_option, only_one, put
from harness.outcome import COMPLETE, UsageFault

_file = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("outcomes", type=_file, metavar="OUTCOMES.json|.csv")
@click.option("--family", "family_name", required=True, metavar="FILE", help=f"family.toml, or {', '.join(SHIPPED)}.")
@click.option("--explore", multiple=True, metavar="FIRST:SECOND", help="A comparison that is not in the family.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@html_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, every p as an exact fraction and a number.")
def analyse(
    outcomes: Path, family_name: str, explore: tuple[str, ...], markdown: bool, html: Path | None, as_json: bool
) -> int:
    """Exact tests, Holm, sensitivities, gates and falsifiers of outcomes.

    Rows have trap, condition, seed, outcome, and optionally construct, family, fixture, evidence, clean_start, removed,
    history, endpoint, reader, cause, carried_by_tree. A JSON object {"rows": [...]} may add "metrics" ({name:
    {condition: value}}), "warmup" ([passed, sessions] of the baseline) and "poisoned" ([trap, ...]).
    """
    only_one(markdown=markdown, as_json=as_json, html=html)
    try:
        family = shipped_family(family_name) if family_name in SHIPPED else load_family(Path(family_name))
        found, rest = _read(outcomes)
        result = infer(found, family, _extras(rest, explore, family, found))
    except (RecordError, FamilyError) as error:
        raise UsageFault(f"{outcomes}: {error}" if isinstance(error, RecordError) else str(error)) from error
    if as_json:
        click.echo(json.dumps(result.as_data(), indent=1, allow_nan=False))
    else:
        put(document(result), markdown=markdown, html=html)
    return COMPLETE


def _read(path: Path) -> tuple[Outcomes, Mapping[str, Any]]:
    if path.suffix not in (".json", ".csv"):
        raise UsageFault(f"{path}: expected a name that ends in .json or .csv")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"{path}: {error}") from error
    return from_json(text) if path.suffix == ".json" else (from_csv(text), {})


def _extras(rest: Mapping[str, Any], explore: tuple[str, ...], family: Family, found: Outcomes) -> Extras:
    if unknown := sorted(set(rest) - {"metrics", "warmup", "poisoned"}):
        raise RecordError(None, f"unknown keys {unknown} beside rows")
    poisoned = rest.get("poisoned", [])
    if not isinstance(poisoned, list) or not set(map(str, poisoned)) <= set(found.traps):
        raise RecordError(None, "poisoned is a list of traps that the rows tell of")
    return Extras(
        metrics=_metrics(rest.get("metrics", {})),
        warmup=_warmup(rest.get("warmup")),
        poisoned=frozenset(map(str, poisoned)),
        explore=tuple(_pair(words, family) for words in explore),
    )


def _metrics(raw: object) -> dict[str, dict[str, float | None]]:
    """Metric values; null is "not measured"."""
    if not isinstance(raw, dict) or not all(isinstance(by, dict) for by in raw.values()):
        raise RecordError(None, "metrics is an object of objects: {name: {condition: value}}")
    for name, by in raw.items():
        for condition, value in by.items():
            if value is not None and (type(value) not in (int, float) or not abs(value) < float("inf")):
                raise RecordError(None, f"metrics: {name} of {condition} is {value!r}, expected a number or null")
    return raw


def _warmup(raw: object) -> tuple[int, int] | None:
    if raw is None:
        return None
    if not isinstance(raw, list) or len(raw) != 2 or not all(type(n) is int for n in raw) or not 0 <= raw[0] <= raw[1]:
        raise RecordError(None, f"warmup is {raw!r}, expected [passed, sessions]")
    return raw[0], raw[1]


def _pair(words: str, family: Family) -> tuple[str, str]:
    first, colon, second = words.partition(":")
    if not (first and colon and second) or first == second:
        raise UsageFault(f"--explore {words}: expected FIRST:SECOND, two conditions")
    if family.registers(first, second):
        raise UsageFault(f"--explore {words}: the family {family.name} registers it")
    return first, second
