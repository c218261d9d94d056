"""What raters said: reading filled sheets, and the arithmetic over them.

Invariant: a cell that cannot be read stops everything and is named; a trap counts as rated only by a person's cell
about the trap as it is now; what no person has rated is "not rated" and supports no claim.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from analysis.agreement import Agreement, Pair, against_the_rest, agreement
from harness.audit import ANSWERS, LABELS, QUESTIONS, Key, construct_file, deep_file
from harness.outcome import UsageFault

NOT_RATED = "not rated"
CONSTRUCT = "construct"

Sheet = dict[str, dict[str, str]]  # case -> question -> answer; what was left empty is not there


@dataclass(frozen=True)
class Ratings:
    """Answers by question (`construct`, and those of the deep audit), then by rater, then by trap.

    `asked` are the traps that each question is about. `changed` are those that are no longer what was rated, `gone`
    those that are not there any more; neither counts as rated. `own` is the construct by the trap's own file.
    """

    raters: tuple[str, ...]
    asked: Mapping[str, tuple[str, ...]]
    answers: Mapping[str, Mapping[str, Mapping[str, str]]]
    own: Mapping[str, str]
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def rated(self, question: str) -> tuple[str, ...]:
        """Traps that every rater answered."""
        by = self.answers[question].values()
        return tuple(trap for trap in self.asked[question] if all(trap in told for told in by))

    def pairs(self, question: str, first: str, second: str) -> list[Pair]:
        """What two raters said of the traps that both answered."""
        a, b = self.answers[question][first], self.answers[question][second]
        return [(a[trap], b[trap]) for trap in self.asked[question] if trap in a and trap in b]

    def disagreements(self, question: str) -> list[tuple[str, tuple[str, ...]]]:
        """Traps of which two raters say different things, with each one's answer ("" where there is none)."""
        found = []
        for trap in self.asked[question]:
            said = tuple(self.answers[question][rater].get(trap, "") for rater in self.raters)
            if len(set(said) - {""}) > 1:
                found.append((trap, said))
        return found


@dataclass(frozen=True)
class ConstructRow:
    """One construct by the traps' own files: how many of its traps all raters rated, and how many they all confirm."""

    construct: str
    traps: int
    rated: int
    confirmed: int

    @property
    def says(self) -> str:
        """In words; a construct with a trap that is not rated supports no claim."""
        if not self.rated:
            return f"{NOT_RATED}: no claim"
        if self.rated < self.traps:
            return f"{self.traps - self.rated} of {self.traps} {NOT_RATED}: no claim"
        return f"{self.confirmed} of {self.traps} confirmed by every rater"


def read_ratings(folder: Path, key: Key, there: Mapping[str, tuple[str, str]]) -> Ratings:
    """All sheets of an audit; a missing one rates nothing. `there` has (construct, digest) of the traps as they are.

    Traps that came later are asked about, too. Raises UsageFault naming file and row (the header is row 1).
    """
    known = {case.trap: case.digest for case in key.cases.values()}
    changed = tuple(t for t, digest in known.items() if t in there and there[t][1] != digest)
    valid = set(known) & set(there) - set(changed)
    names = {case: told.trap for case, told in key.cases.items()}
    answers: dict[str, dict[str, dict[str, str]]] = {question: {} for question in (CONSTRUCT, *QUESTIONS)}
    for rater in key.raters:
        blind = read_sheet(folder / construct_file(rater), (CONSTRUCT,), LABELS, names)
        deep = read_sheet(folder / deep_file(rater), tuple(QUESTIONS), ANSWERS, {trap: trap for trap in key.deep})
        for question in answers:
            sheet = blind if question == CONSTRUCT else deep
            answers[question][rater] = {
                t: told[question] for t, told in sheet.items() if question in told and t in valid
            }
    asked = {CONSTRUCT: tuple(there)} | {question: tuple(t for t in key.deep if t in there) for question in QUESTIONS}
    own = {trap: construct for trap, (construct, _) in there.items()}
    return Ratings(key.raters, asked, answers, own, changed, tuple(t for t in known if t not in there))


def read_sheet(path: Path, questions: Sequence[str], allowed: Sequence[str], names: Mapping[str, str]) -> Sheet:
    """A filled sheet: answers by trap, which `names` has by case. Empty without the file. Case does not matter.

    Raises UsageFault naming file, row and column.
    """
    if not path.exists():
        return {}
    rows = _rows(path)
    head = [cell.strip() for cell in rows[0]] if rows else []
    if missing := [name for name in ("case", *questions) if head.count(name) != 1]:
        raise UsageFault(f"{path}: row 1: there must be one column {missing[0]!r}")
    words = {word.lower(): word for word in allowed}
    found: Sheet = {}
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(head):
            raise UsageFault(f"{path}: row {number}: {len(row)} cells under {len(head)} columns")
        told = {name: cell.strip() for name, cell in zip(head, row, strict=True)}
        if (trap := names.get(told["case"])) is None:
            raise UsageFault(f"{path}: row {number}: {told['case']!r} is no case of this audit")
        if trap in found:
            raise UsageFault(f"{path}: row {number}: {told['case']} is there twice")
        for question in questions:
            if told[question] and told[question].lower() not in words:
                expected = ", ".join(allowed)
                raise UsageFault(f"{path}: row {number}: {question} is {told[question]!r}, expected one of {expected}")
        found[trap] = {question: words[told[question].lower()] for question in questions if told[question]}
    return found


def constructs(ratings: Ratings) -> list[ConstructRow]:
    """One row a construct that has traps."""
    rated, rows = set(ratings.rated(CONSTRUCT)), []
    for construct in sorted(set(ratings.own.values()), key=lambda name: (len(name), name)):
        traps = [trap for trap, own in ratings.own.items() if own == construct]
        by = ratings.answers[CONSTRUCT].values()
        confirmed = sum(all(told[trap] == construct for told in by) for trap in traps if trap in rated)
        rows.append(ConstructRow(construct, len(traps), sum(trap in rated for trap in traps), confirmed))
    return rows


def kappas(ratings: Ratings, question: str) -> dict[tuple[str, str], Agreement]:
    """Kappa of every two raters on a question."""
    return {(a, b): agreement(ratings.pairs(question, a, b)) for a, b in combinations(ratings.raters, 2)}


def kappas_by_construct(ratings: Ratings, first: str, second: str) -> dict[str, Agreement]:
    """Kappa of two raters on each construct against all others, for constructs that either named."""
    pairs = ratings.pairs(CONSTRUCT, first, second)
    named = sorted({word for pair in pairs for word in pair}, key=lambda name: (len(name), name))
    return {name: agreement(against_the_rest(pairs, name)) for name in named}


def confusion(ratings: Ratings, rater: str) -> dict[str, Counter[str]]:
    """What one rater said, by the construct of the trap's own file."""
    found: dict[str, Counter[str]] = {}
    for trap, said in ratings.answers[CONSTRUCT][rater].items():
        found.setdefault(ratings.own[trap], Counter())[said] += 1
    return found


def _rows(path: Path) -> list[list[str]]:
    """The rows of a CSV with commas, or with semicolons, as spreadsheets of some countries write them."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageFault(f"{path}: not UTF-8 at byte {error.start} (remedy: save as CSV, UTF-8)") from error
    first = text.partition("\n")[0]
    delimiter = ";" if first.count(";") > first.count(",") else ","
    rows: list[list[str]] = []
    try:
        rows += csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise UsageFault(f"{path}: row {len(rows) + 1}: {error}") from error
    return rows
