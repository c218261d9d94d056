"""Small runs by hand, and ways to find a table of their report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.family import Family, parse_family
from analysis.records import COUNTED, ArmRow, Outcome
from analysis.report.layout import Document, Table
from analysis.report.source import Card, RunData, WarmUp

HISTORIES = {"C1": [("given", True)], "C10": [("absent", True), ("given", False)]}
WORDS: dict[str, Outcome] = {"p": "pass", "t": "trapped", "f": "failed", "i": "invalid", "u": "unavailable"}


def arms(condition: str, word: str, reader: str = "careful", traps: int = 8, seeds: int = 1) -> list[ArmRow]:
    """Arms of a small fold; trap n ends (in all its histories) as letter n of the word says, again and again."""
    rows = []
    for number in range(traps):
        construct = "C10" if number % 4 == 3 else "C1"
        outcome = WORDS[word[number % len(word)]]
        cause = "" if outcome == "pass" else "old value"
        for seed in range(1, seeds + 1):
            rows += [
                ArmRow(f"t{number}", construct, condition, seed, history, main, reader, outcome, cause)
                for history, main in HISTORIES[construct]
            ]
    return rows


def levels(**words: str) -> list[ArmRow]:
    """Both reader levels; a word is "careful" or "careful credulous"."""
    rows = []
    for condition, both in words.items():
        for reader, word in zip(("careful", "credulous"), (both.split() * 2)[:2], strict=True):
            rows += arms(condition, word, reader, traps=12)
    return rows


def run_of(rows: Sequence[ArmRow], **told: Any) -> RunData:
    """A complete run of the rows, unless `planned` says more; EVIDENCE and POISON are instruments."""
    conditions = dict.fromkeys(row.condition for row in rows)
    readers = len({row.reader for row in rows}) or 1
    given = {
        "title": "A run",
        "agent": "reference",
        "told": (("view budget", "6 items"),),
        "cards": tuple(Card(c, f"title of {c}", "1", instrument=c in ("EVIDENCE", "POISON")) for c in conditions),
        "family": None,
        "arms": tuple(rows),
        "planned": {c: sum(row.condition == c for row in rows) // readers for c in conditions},
        "traps": {},
    }
    return RunData(**{**given, **told})


def family(*contrasts: str, primary: str = "", more: str = "", endpoint: str = "matched") -> Family:
    """A family with the contrasts "ID FIRST SECOND"; gates that small folds meet."""
    text = f'name = "mine"\nendpoint = "{endpoint}"\n[gates]\nmin_traps = 2\nmin_paired_seeds = 1\n'
    for contrast in contrasts:
        name, first, second = contrast.split()
        text += f'[[contrast]]\nid = "{name}"\nfirst = "{first}"\nsecond = "{second}"\n'
        text += "primary = true\n" if name == primary else ""
    return parse_family(text + more)


def warm(row: ArmRow, s1: bool | None = True, s2: bool | None = True) -> WarmUp:
    """The arm's public checks."""
    passed = row.outcome == "pass" if row.outcome in COUNTED else None
    return WarmUp(row.trap, row.condition, row.seed, row.history, row.reader, s1, s2, passed)


def table(document: Document, title: str) -> Table:
    """The one printed table of that title."""
    (found,) = [t for section in document.sections for t in section.printed if t.title == title]
    return found


def titles(document: Document) -> list[str]:
    """Of all printed tables."""
    return [t.title for section in document.sections for t in section.printed]


def line(found: Table, *start: str) -> tuple[str, ...]:
    """The one row that starts so."""
    (row,) = [r for r in found.rows if r[: len(start)] == start]
    return row
