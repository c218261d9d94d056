"""The rule judge: what a note says about other notes, by general English and nothing else.

It knows cue words (replaces, supersedes, disproved, withdrawn, outranks, valid until), note numbers, quoted spans and
named authors. Invariant: a pure function of the text; deterministic, free, and blind to who asks and why.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory_probe import text

_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n|;\s")
_BE = r"(?:is|are|was|were|be|been|being|gets?|got)(?:\s+\w+ly)?(?:\s+hereby)?"
_REPLACES = re.compile(
    r"\b(?:replac(?:es|ing)|supersed(?:es|ing)|obsoletes|takes the place of|in place of|no longer use|retires"
    r"|(?:have|has|we) (?:replaced|superseded|retired))\b",
    re.I,
)
_REPLACED = re.compile(
    rf"\b{_BE}\s+(?:replaced|superseded|obsolete[d]?|retired|no longer (?:used|valid|current))\b", re.I
)
_REFUTES = re.compile(
    r"\b(?:disprov(?:es|ing)|refutes|withdraws|retracts|revokes|(?:have|has|we) (?:disproved|withdrawn|retracted))\b",
    re.I,
)
_REFUTED = re.compile(
    rf"\b(?:{_BE}\s+(?:disproved|disproven|refuted|withdrawn|retracted|revoked|wrong|false|untrue)|no longer holds?)\b",
    re.I,
)
#: What every cue has a part of; most notes have none, and need not be read closely.
_HINTS = (
    *("replac", "supersed", "obsolete", "takes the place", "in place of", "no longer", "retire"),
    *("disprov", "refut", "withdr", "retract", "revoke", "wrong", "false", "untrue"),
)
_RANK_HINTS = ("outrank", "precedence", "prevail", "overrule", "final")
_UNTIL_HINTS = ("until", "expire", "end")
_OUTRANKS = re.compile(
    r"\b(?:outranks?|takes? precedence over|prevails? over|overrules?|has the final say over)\b", re.I
)
_NOT = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.I)
_UNTIL = re.compile(
    r"\b(?:(?:valid|holds?|applies|apply|in force) (?:only )?until|expires? on|ends? on)\s+(\d{4}-\d{2}-\d{2})", re.I
)
RANK_WORDS = frozenset({"outrank", "precedence", "prevail", "overrule", "final"})
_NEGATION_REACH = 24  # characters before a cue in which a negation turns it round


@dataclass(frozen=True)
class Target:
    """What a note speaks against: a note number or a quoted span."""

    kind: str  # "number" or "quote"
    value: str
    relation: str  # "replaces" or "disproves"


@dataclass(frozen=True)
class Reading:
    """What a text says of others. `ranks` are (before the cue, after the cue) of a precedence sentence."""

    own: str = ""
    targets: tuple[Target, ...] = ()
    ranks: tuple[tuple[str, str], ...] = ()
    until: dt.date | None = None


def read(content: str) -> Reading:
    """Read one note."""
    first = (text.numbers(content) or ("",))[0]
    targets = _targets(content, first) if _hints(content, _HINTS) else ()
    own = "" if any(t.value == first for t in targets) else first
    return Reading(own, targets, _ranks(content), until(content))


def own_number(content: str) -> str:
    """The number that a note bears itself, or "": the first one in it, unless the note speaks against that."""
    first = (text.numbers(content) or ("",))[0]
    return read(content).own if first and _hints(content, _HINTS) else first


def until(content: str) -> dt.date | None:
    """The last day that a note states for itself."""
    flat = re.sub(r"\s+", " ", content) if _hints(content, _UNTIL_HINTS) else ""
    found = _UNTIL.search(flat)
    if not found:
        return None
    try:
        return dt.date.fromisoformat(found.group(1))
    except ValueError:
        return None  # digits that are no day of the calendar say nothing


def winners_and_losers(rank: tuple[str, str], authors: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Who wins and who loses by a precedence sentence: authors (lower case) or note numbers.

    The winner is the last one named before the cue; ("", ()) when no one known is named.
    """
    known = list(authors)
    before, after = _named(rank[0], known), _named(rank[1], known)
    return (before[-1], tuple(after)) if before and after else ("", ())


def _hints(content: str, parts: tuple[str, ...]) -> bool:
    low = content.casefold()
    return any(part in low for part in parts)


def _sentences(content: str) -> list[str]:
    return [re.sub(r"\s+", " ", sentence) for sentence in _END.split(content)]


def _targets(content: str, first: str) -> tuple[Target, ...]:
    found: list[Target] = []
    introduced = False
    for sentence in _sentences(content):
        if _hints(sentence, _HINTS):
            found += _against(sentence, _REPLACES, _REPLACED, "replaces", first, introduced)
            found += _against(sentence, _REFUTES, _REFUTED, "disproves", first, introduced)
        introduced = introduced or first in text.numbers(sentence)
    return tuple(dict.fromkeys(found))


def _ranks(content: str) -> tuple[tuple[str, str], ...]:
    if not _hints(content, _RANK_HINTS) or not _OUTRANKS.search(re.sub(r"\s+", " ", content)):
        return ()
    return tuple((s[: cue.start()], s[cue.end() :]) for s in _sentences(content) for cue in _cues(_OUTRANKS, s))


def _against(
    sentence: str, active: re.Pattern[str], passive: re.Pattern[str], relation: str, first: str, introduced: bool
) -> list[Target]:
    """What an active cue has behind it, and a passive one before it.

    The first number of a note is its own, and not a target, if it was introduced before the cue, or stands before a
    passive cue together with another; alone, it is what the note speaks against.
    """
    found: list[Target] = []
    for cue in _cues(active, sentence):
        own = first if introduced or first in text.numbers(sentence[: cue.start()]) else ""
        found += [t for t in _parts(sentence[cue.end() :], relation) if t.value != own]
    for cue in _cues(passive, sentence):
        named = _parts(sentence[: cue.start()], relation)
        found += [t for t in named if t.value != first] or named
    return found


def _cues(pattern: re.Pattern[str], sentence: str) -> list[re.Match[str]]:
    reach = _NEGATION_REACH
    return [m for m in pattern.finditer(sentence) if not _NOT.search(sentence[max(0, m.start() - reach) : m.start()])]


def _parts(part: str, relation: str) -> list[Target]:
    """Numbers are exact, so they win over quoted spans in the same sentence."""
    if found := text.numbers(part):
        return [Target("number", n, relation) for n in found]
    return [Target("quote", q, relation) for q in text.quoted(part)]


def _named(part: str, authors: list[str]) -> list[str]:
    found = [(m.start(), m.group()) for n in text.numbers(part) for m in re.finditer(re.escape(n), part)]
    low = part.lower()
    for author in authors:
        if author in low:
            found += [(m.start(), author) for m in re.finditer(rf"(?<!\w){re.escape(author)}(?!\w)", low)]
    return [name for _, name in sorted(found)]
