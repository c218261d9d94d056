"""Read notes the way a colleague would: the one general reader, at two levels.

`careful` takes what a note's fields and its words say (who wrote it, when, where it applies, what it replaces,
disproves or outranks). `credulous` takes only fields that the memory exposes (state, scope, date) and otherwise
believes the best-ranked match. Invariant: the reader sees the rendered text and nothing else, so whatever it
does not find, memory did not deliver.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .shapes import all_values, values

LEVELS = ("careful", "credulous")
HEADING = "# Notes from earlier sessions"

_ITEM = re.compile(r"^\[(\d+)\](?: (.*))?$")
_TODAY = re.compile(r"^Today is (\d{4}-\d{2}-\d{2})\.", re.M)
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_REF = re.compile(r"(?<![\w-])[A-Z]{1,6}-\d{3,9}(?![\w-])")
_AUTHOR = re.compile(r"\bby (?:the |an? )?([^\W\d_][\w' -]{1,40}?)(?=\s*(?:[,;:.()\n]|$|\bon\b|\bat\b|\d))", re.I)
_REPLACES = re.compile(
    r"\b(?:replac(?:es|ed|ing)|supersed(?:es|ed|ing)|instead\s+of|in\s+place\s+of|no\s+longer\s+use|retires?)\b", re.I
)
_DISPROVED = re.compile(
    r"\b(?:(?:is|was|has\s+been|are|were)\s+(?:disproved|disproven|withdrawn|wrong|retracted)|no\s+longer\s+holds?)\b",
    re.I,
)
_DISPROVES = re.compile(r"\b(?:disproves|withdraws|retracts)\b", re.I)
_ONLY = re.compile(r"\b(?:applies\s+only\s+to|apply\s+only\s+to|only\s+for|limited\s+to)\b(.*)", re.I | re.S)
_OUTRANKS = re.compile(r"(.*?)\boutranks?\b(.*)", re.I | re.S)
_UNTIL = re.compile(r"\b(?:valid\s+until|expires\s+on)\s+(\d{4}-\d{2}-\d{2})", re.I)
_QUOTED = re.compile(r"`([^`\n]+)`")
_STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "our",
        "that",
        "the",
        "their",
        "this",
        "to",
        "was",
        "we",
        "which",
        "with",
    ]
)


@dataclass(frozen=True)
class Item:
    """One note of the view. A field that the memory does not expose is "" (or empty)."""

    rank: int
    text: str
    date: str = ""
    state: str = ""
    files: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """Sentences end at a stop before white space, at a blank line or at `;`; a line end inside is a blank."""
        return [" ".join(part.split()) for part in re.split(r"(?<=[.!?])\s+|\n\s*\n|;\s", self.text)]

    @property
    def written(self) -> str:
        """The date of the field, else the first date in the text."""
        found = _DATE.search(self.text)
        return self.date or (found.group() if found else "")

    @property
    def refs(self) -> set[str]:
        """The note's own number: the first in the text (a note may cite others later)."""
        found = _REF.search(self.text)
        return {found.group()} if found else set()

    @property
    def author(self) -> str:
        """Lower-case author named in the text, or ""."""
        found = _AUTHOR.search(self.text)
        return _fold_name(found.group(1)) if found else ""


def parse(prompt: str) -> tuple[str, list[Item]]:
    """(today, items) from a prompt with the rendered notes section; ("", []) when there is none."""
    _, found, section = prompt.partition(HEADING + "\n")
    if not found:
        return "", []
    today = _TODAY.search(section)
    items: list[Item] = []
    head: re.Match[str] | None = None
    body: list[str] = []
    for line in [*section.split("\n"), "[0]"]:
        start = _ITEM.match(line)
        if start is None:
            if head is not None and (line.startswith("    ") or not line.strip()):
                body.append(line[4:])
            continue
        if head is not None:
            items.append(_item(head, "\n".join(body).rstrip("\n")))
        head, body = start, []
    return (today.group(1) if today else ""), items


def _item(head: re.Match[str], text: str) -> Item:
    fields: dict[str, str] = {}
    for part in (head.group(2) or "").split(" | "):
        name, _, value = part.partition(" ")
        fields[name] = value
    files = tuple(f for f in fields.get("files", "").split(", ") if f)
    return Item(int(head.group(1)), text, fields.get("date", ""), fields.get("state", ""), files)


def words(text: str) -> set[str]:
    """Content words: lower case, stop words out, a final plural s folded."""
    found = (w.lower() for w in re.findall(r"[^\W_]+", text))
    return {w[:-1] if len(w) > 3 and w.endswith("s") else w for w in found if w not in _STOP}


class Notes:
    """What a playbook may ask: `recall`."""

    def __init__(self, prompt: str, level: str) -> None:
        if level not in LEVELS:
            raise ValueError(f"unknown reader level {level!r}")
        self._careful = level == "careful"
        self._today, self._items = parse(prompt)
        self._dead_refs, self._dead_values, self._ranks = (
            _verdicts(self._items) if self._careful else (set(), set(), [])
        )
        self.log: list[dict[str, object]] = []

    def recall(self, shape: str, about: str, path: str | None = None) -> str | None:
        """The value of `shape` that the notes give on `about` for the file `path`, or None."""
        wanted = words(about)
        found = [hit for item in self._items for hit in self._hits(item, shape, wanted, path)]
        if self._careful:
            found = self._undisputed(found)
            found.sort(key=lambda h: (-h.topic, -h.place, _newest(h.item.written), h.item.rank))
        else:
            found.sort(key=lambda h: (_newest(h.item.date), h.item.rank))
        value = found[0].value if found else None
        self.log.append({"recall": shape, "about": about, "path": path, "value": value})
        return value

    def _hits(self, item: Item, shape: str, wanted: set[str], path: str | None) -> list[_Hit]:
        topic = len(wanted & words(item.text)) / len(wanted) if wanted else 0.0
        if topic < 0.5 or item.state not in ("", "active", "unknown"):
            return []
        if path and item.files and not any(_covers(f, path) for f in item.files):
            return []
        if self._careful and not self._stands(item, path):
            return []
        place = 1 if path and (path in item.text or any(_covers(f, path) for f in item.files)) else 0
        best: _Hit | None = None
        for sentence in item.sentences:
            share = len(wanted & words(sentence))
            for _, value in values(shape, sentence):
                if value in self._dead_values:
                    continue
                if best is None or share > best.share:
                    best = _Hit(item, value, topic, place, share)
        return [best] if best else []

    def _stands(self, item: Item, path: str | None) -> bool:
        if item.refs & self._dead_refs:
            return False
        until = _UNTIL.search(item.text)
        if until and self._today and until.group(1) < self._today:
            return False
        only = [scope for s in item.sentences if (scope := _scope(s))]
        return not (path and only) or any(_covers(f, path) for scope in only for f in scope)

    def _undisputed(self, found: list[_Hit]) -> list[_Hit]:
        live = {h.item.author for h in found} | {r for h in found for r in h.item.refs}
        beaten = {loser for winner, loser in self._ranks if winner in live}
        return [h for h in found if h.item.author not in beaten and not (h.item.refs & beaten)]


@dataclass(frozen=True)
class _Hit:
    item: Item
    value: str
    topic: float
    place: int
    share: int


def _verdicts(items: list[Item]) -> tuple[set[str], set[str], list[tuple[str, str]]]:
    """(refs of dead notes, dead values, (winner, loser) pairs) that the texts state."""
    refs: set[str] = set()
    dead: set[str] = set()
    ranks: list[tuple[str, str]] = []
    authors = {item.author for item in items} - {""}
    for item in items:
        for sentence in item.sentences:
            if cue := _REPLACES.search(sentence):
                tail = sentence[cue.end() :]
                refs |= set(_REF.findall(tail)) - item.refs
                dead |= {value for _, value in all_values(tail)}
            if cue := _DISPROVED.search(sentence):
                refs |= set(_REF.findall(sentence[: cue.start()])) - item.refs
            if cue := _DISPROVES.search(sentence):
                refs |= set(_REF.findall(sentence[cue.end() :])) - item.refs
            if cue := _OUTRANKS.search(sentence):
                winners = _named(cue.group(1), authors)
                ranks += [(w, loser) for w in winners[-1:] for loser in _named(cue.group(2), authors)]
    return refs, dead, ranks


def _named(text: str, authors: set[str]) -> list[str]:
    """Note numbers and known authors in the order in which the text names them."""
    found = [(m.start(), m.group()) for m in _REF.finditer(text)]
    for author in authors:
        found += [(m.start(), author) for m in re.finditer(rf"(?<!\w){re.escape(author)}(?!\w)", text, re.I)]
    return [name for _, name in sorted(found)]


def _fold_name(text: str) -> str:
    return re.sub(r"[`*_\"']", "", text).strip().lower()


def _scope(sentence: str) -> list[str]:
    found = _ONLY.search(sentence)
    return _QUOTED.findall(found.group(1)) if found else []


def _covers(scope: str, path: str) -> bool:
    """Does a file, a folder (`src/` or `src/**`) or a symbol name cover `path`?"""
    scope = scope.strip()
    folder = scope[:-2] if scope.endswith("**") else scope
    return scope == path or (folder.endswith("/") and path.startswith(folder))


def _newest(date: str) -> tuple[int, ...]:
    return tuple(-int(part) for part in date.split("-")) if date else (1,)
