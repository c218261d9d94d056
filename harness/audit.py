"""An audit by people: which traps are looked at deeply, under which names, and the sheets that raters fill in.

In a folder of the audit's own: `key.json` (0600; what the names stand for: not for raters), `guide.md`, and for each
rater `construct-<rater>.csv` (all traps, masked) and `deep-<rater>.csv` (the sample, by name). Invariant: names, order
and sample follow from the recorded seed and the traps' ids alone; no construct sheet says construct, role, history or
trap; no cell that comes from a trap is a formula to a spreadsheet.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import metadata
from math import ceil
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from analysis import glossary
from harness.outcome import UsageFault
from harness.rundir import replace_file
from traps.load import Trap, note_text
from traps.schema import Fact, explain

KEY, GUIDE = "key.json", "guide.md"
SHARE = Fraction(3, 10)  # of all traps, for the deep audit
CONSTRUCTS = tuple(f"C{number}" for number in range(1, 11))
QUESTIONS = {
    "fit": "Does the trap test its construct, and not something else?",
    "realism": "Could the work, the prompts and the notes be those of a real team?",
    "leakage": "Can session 3 be solved without the notes, from prompts, tree or common knowledge?",
    "duplication": "Is it the same trick as another trap under another name? (Say which.)",
    "load_bearing": "Is the evidence needed: does the right change hang on what the notes say?",
}
#: The answer that speaks against a trap.
AGAINST = {"fit": "no", "realism": "no", "leakage": "yes", "duplication": "yes", "load_bearing": "no"}
LABELS, ANSWERS = CONSTRUCTS, ("yes", "no")
_CELL = 32_000  # characters; a spreadsheet cuts a cell off at 32,767
_FORMULA = re.compile(r"\s*[=+\-@|%\t\r\uff1d\uff0b\uff0d\uff20]")
_SLOT = re.compile(r"\{(hex|HEX|digit|letter):(\d+)\}")
_ALPHABETS = {"hex": "0123456789abcdef", "HEX": "0123456789ABCDEF", "digit": "0123456789",
              "letter": "abcdefghijklmnopqrstuvwxyz"}  # fmt: skip


class Case(BaseModel):
    """What a masked name stands for, and the digest (trap, fixture, oracle) of what was rated."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    trap: str
    construct_: str = Field(alias="construct")
    digest: str


class Key(BaseModel):
    """`key.json`. `deep` are the sampled traps."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal[1] = Field(alias="schema")
    seed: int
    raters: tuple[str, ...] = Field(min_length=2)
    at: dt.datetime
    version: str
    cases: dict[str, Case]
    deep: tuple[str, ...]


def masked(trap: str, seed: int) -> str:
    """The name under which a trap is rated."""
    return f"T{_hash('case', seed, trap)[:10]}"


def sample(constructs: Mapping[str, str], seed: int, share: Fraction = SHARE) -> tuple[str, ...]:
    """Traps (ids) for the deep audit: `share` of all, rounded up, in order of construct.

    At least one a construct, even if there are more than `share` then. Shares of constructs by largest
    remainder; within one, those whose hash with the seed is lowest.
    """
    of: dict[str, list[str]] = {}
    for trap, construct in constructs.items():
        of.setdefault(construct, []).append(trap)
    names = sorted(of, key=lambda name: (len(name), name))
    exact = {name: share * len(of[name]) for name in names}
    wanted = {name: max(int(exact[name]), 1) for name in names}
    left = ceil(share * len(constructs)) - sum(wanted.values())
    by_remainder = sorted((n for n in names if wanted[n] < exact[n]), key=lambda n: wanted[n] - exact[n])
    for name in by_remainder[: max(left, 0)]:
        wanted[name] += 1
    return tuple(
        trap
        for name in names
        for trap in sorted(sorted(of[name], key=lambda trap: _hash("deep", seed, trap))[: wanted[name]])
    )


def write_sheets(
    folder: Path, traps: Mapping[str, Trap], digests: Mapping[str, str], raters: Sequence[str], seed: int
) -> Key:
    """Key, guide and sheets. Raises UsageFault for bad names of raters and for a folder that holds an audit."""
    if len(set(raters)) < 2 or len(set(raters)) != len(raters):
        raise UsageFault("raters: at least two, each under a name of its own")
    if bad := [name for name in raters if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,31}", name)]:
        raise UsageFault(f"raters: {bad[0]!r}: a name is up to 32 small letters, digits, - and _")
    if not traps:
        raise UsageFault("there are no traps to rate")
    constructs = {name: trap.construct for name, trap in traps.items()}
    cases = {masked(t, seed): Case(trap=t, construct=c, digest=digests[t]) for t, c in constructs.items()}
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    key = Key(
        schema=1,
        seed=seed,
        raters=tuple(raters),
        at=now,
        version=metadata.version("dreambench-swe"),
        cases=cases,
        deep=sample(constructs, seed),
    )
    files = {KEY: key.model_dump_json(indent=1, by_alias=True) + "\n", GUIDE: _guide()}
    for rater in raters:
        files[construct_file(rater)] = table(_construct_rows(traps, key, rater))
        files[deep_file(rater)] = table(_deep_rows(traps, key, rater))
    _put(folder, files)
    return key


def load_key(folder: Path) -> Key:
    """Raises UsageFault naming the file and what is wrong with it."""
    path = folder / KEY
    try:
        return Key.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror} (the folder that `trap audit sheets` made)") from error
    except ValidationError as error:
        raise UsageFault(f"{path}: {explain(error)}") from error


def construct_file(rater: str) -> str:
    return f"construct-{rater}.csv"


def deep_file(rater: str) -> str:
    return f"deep-{rater}.csv"


def plain_cell(text: str) -> str:
    """The text as data: what a spreadsheet could take for a formula stands behind an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) else text


def table(rows: Sequence[Sequence[str]]) -> str:
    """CSV, every cell quoted."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([plain_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def shown(trap: Trap, seed: int) -> tuple[str, str, str, str]:
    """What a rater sees: three prompts, and the notes with example values that the seed draws. Raises UsageFault."""
    random = Random(f"{seed}/{trap.id}")
    values = {name: _example(fact, random) for name, fact in trap.spec.facts.items() if fact.kind != "derived"}
    refs = {note.id: _filled(note.ref, random) for note in (*trap.spec.event, *trap.spec.poison)}
    one, two, three = (trap.texts[session.prompt] for session in trap.spec.session)
    numbers = {event.id: number for number, event in enumerate(trap.spec.event, 1)}
    courses = [[str(numbers[e]) for e in numbers if e in history.roles] for history in trap.spec.history]
    notes = [f"[note {numbers[e.id]}, after session {e.after}]\n{note_text(trap, e, values, refs)}"
             for e in trap.spec.event]  # fmt: skip
    if len(courses) > 1:
        told = "; ".join(f"course {n}: notes {', '.join(c) or 'none'}" for n, c in enumerate(courses, 1))
        notes.insert(0, f"(Not all notes are there each time. {told[0].upper()}{told[1:]}.)\n")
    cells = one, two, three, "\n".join(notes)
    if any(len(cell) > _CELL for cell in cells):
        raise UsageFault(f"{trap.id}: a prompt, or all notes together, are longer than a cell of a spreadsheet")
    return cells


def _construct_rows(traps: Mapping[str, Trap], key: Key, rater: str) -> list[list[str]]:
    head = ["case", "construct", "remarks", "session 1", "session 2", "session 3", "notes"]
    order = sorted(key.cases, key=lambda case: _hash(f"order {rater}", key.seed, case))
    return [head, *([case, "", "", *shown(traps[key.cases[case].trap], key.seed)] for case in order)]


def _deep_rows(traps: Mapping[str, Trap], key: Key, rater: str) -> list[list[str]]:
    head = ["case", "construct", "fixture", "title", *QUESTIONS, "remarks"]
    order = sorted(key.deep, key=lambda trap: _hash(f"deep order {rater}", key.seed, trap))
    told = ((trap, traps[trap].construct, traps[trap].spec.fixture, traps[trap].spec.title) for trap in order)
    return [head, *([*row, *[""] * (len(QUESTIONS) + 1)] for row in told)]


def _guide() -> str:
    """What raters read; the constructs in the words of the glossary."""
    words = glossary.load()
    constructs = [f"- {name}: {term.says}" for name in CONSTRUCTS if (term := words.find(name))]
    questions = [f"- `{name}`: {text}" for name, text in QUESTIONS.items()]
    return "\n".join(
        [
            "# For raters",
            "",
            "First `construct-<your name>.csv`: read the three prompts and the notes between them, and write into the",
            "column `construct` which one ability decides whether session 3 goes right. An empty cell says that you",
            "did not rate the case. Values and numbers in the notes are examples. Work alone.",
            "",
            *constructs,
            "",
            "Then, when both construct sheets are back, `deep-<your name>.csv`: look at the folders of the trap and of",
            "its oracle, and answer `yes` or `no` (or nothing).",
            "",
            *questions,
            "",
            "Leave the other columns and the names as they are, and save as CSV (UTF-8).",
            "",
        ]
    )


def _put(folder: Path, files: Mapping[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if there := [name for name in files if (folder / name).exists()]:
            raise UsageFault(f"{folder / there[0]}: there is an audit (remedy: another folder with --out)")
        for name, text in files.items():
            start = "\ufeff" if name.endswith(".csv") else ""  # without it, spreadsheets do not take it for UTF-8
            replace_file(folder / name, (start + text).encode(), mode=0o600 if name == KEY else 0o644)
    except OSError as error:
        raise UsageFault(f"{folder}: {error.strerror}") from error


def _example(fact: Fact, random: Random) -> str:
    return _filled(fact.format, random) if fact.kind == "token" else random.choice(fact.variants)


def _filled(template: str, random: Random) -> str:
    """A value of a format. These are never used in a run: facts come from the operating system."""
    return _SLOT.sub(lambda m: "".join(random.choice(_ALPHABETS[m[1]]) for _ in range(int(m[2]))), template)


def _hash(what: str, seed: int, name: str) -> str:
    return hashlib.sha256(f"{what}\n{seed}\n{name}".encode()).hexdigest()
