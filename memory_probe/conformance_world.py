"""What the conformance probes tell a memory: two short sessions on a project of no consequence, and hard texts.

Invariant: everything is made of the protocol's own types, and the words are of no benchmark task.
"""

from __future__ import annotations

import datetime as dt

from memory_probe.protocol import Budget, Episode, Note, Query, Scope

FIRST, SECOND, NOW = dt.date(2026, 3, 2), dt.date(2026, 3, 9), dt.date(2026, 3, 20)
PATH = "src/garden/beds.py"
#: Words that stand in one session's event and nowhere else.
MARKS = {FIRST: "compost-heap", SECOND: "watering-plan"}
_TEXTS = {
    FIRST: "Beds are dug before the frost. The compost-heap stands by the shed,\nand the beds are dug from there.",
    SECOND: "Beds are watered at dusk. The watering-plan for the beds hangs in the shed\nand holds until autumn.",
}
#: name -> a text; all but the first are such as careless storage changes.
HARD = {
    "plain words": _TEXTS[FIRST],
    "hyphens": "beds ab-12cd-34ef, ab\u201012cd\u201034ef and ab\u201312cd",
    "non-ascii": "Beete für Möhren, 畑, грядки, e\u0301 beside \u00e9, \U0001f331",
    "code block": "beds:\n\n```python\ndef dig(beds):\n\tfor bed in beds:  \n\t\tyield bed\n```\n\n\nend",
    "crlf": "beds\r\nline two\r\n\r\nline four \t",
    "controls": "beds \x0b\x0c\x1c\x85\u2028\u2029 \x00 end",
    "quotes": "beds \"double\" 'single' \\ back %s {brace} <tag> &amp; | pipe -- dash; DROP TABLE beds",
    "20,000 characters": "beds " + "x" * 19_995,
    "many lines": "\n".join(f"beds row {n}: " + "seed " * 12 for n in range(270)),
}
WIDE = Budget(50, 50_000)
QUERY = Query(
    "Which beds are dug from the compost-heap, and which are watered by the watering-plan?",
    (PATH,),
    ("dig",),
    "garden",
    "beds",
    NOW,
)


def note(text: str, date: dt.date) -> Note:
    """An event on the beds."""
    return Note(text, "human_feedback", "gardener", 2, date, None, Scope((PATH,), ("dig",), "beds"))


def session(number: int, date: dt.date, *texts: str) -> Episode:
    """A finished session that ended well."""
    return Episode(
        number=number,
        repository="garden",
        task="beds",
        date=date,
        prompt="Dig the beds.",
        steps="read beds.py\nwrote beds.py",
        delta="--- a/beds.py\n+++ b/beds.py\n+dug = True",
        check_passed=True,
        check_output="3 passed",
        notes=tuple(note(text, date) for text in texts),
    )


def story() -> tuple[Episode, Episode]:
    """Two sessions with one event each, a week apart."""
    return session(1, FIRST, _TEXTS[FIRST]), session(2, SECOND, _TEXTS[SECOND])
