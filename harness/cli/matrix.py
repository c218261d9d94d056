"""`trap matrix`: what every declared solution of every trap gets, as one table.

Invariant: exit 0 only if everything is as declared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from analysis.report.layout import Document, Section, Table, as_markdown, as_text
from harness import matrix as discrimination
from harness.boxes import open_sandbox
from harness.cli.places import places, selected, wanted, which
from harness.outcome import COMPLETE, REJECTED


@click.command()
@which
@places
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def matrix(
    ids: tuple[str, ...],
    every: bool,
    sandbox: str,
    traps_dir: Path | None,
    oracles_dir: Path | None,
    markdown: bool,
    as_json: bool,
) -> int:
    """The discrimination matrix: what the reference, no edit, one changed character and every wrong solution get.

    Exit 3 when anything is not as declared.
    """
    config = wanted(ids, every, sandbox, traps_dir, oracles_dir)
    with open_sandbox(config, "matrix") as box:
        rows = list(discrimination.matrix(config, selected(config).values(), box))
    if as_json:
        click.echo(json.dumps([{**asdict(row), "wrong": row.wrong} for row in rows], indent=1))
    else:
        click.echo((as_markdown if markdown else as_text)(_document(rows)))
    return REJECTED if any(row.wrong for row in rows) else COMPLETE


def _document(rows: Sequence[discrimination.Row]) -> Document:
    looked = sum(len(row.seen) for row in rows)
    wrong = sum(len(row.wrong) for row in rows)
    told = (
        f"{looked} solutions of {len({row.trap for row in rows})} traps were scored; {wrong} not as declared. "
        "`one character` is the reference with the last character of every token changed; `two draws` says whether two "
        "draws lead to two different S3 changes (- where no fact may be used).",
    )
    notes = tuple(f"{row.trap} ({row.history}): {text}" for row in rows for text in row.wrong)
    table = Table("Discrimination matrix", discrimination.HEADS, tuple(map(discrimination.cells, rows)), notes)
    return Document("Discrimination", told, (Section("Every declared solution", (), (table,)),))
