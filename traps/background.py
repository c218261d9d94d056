"""Background: the ordinary past of a fixture, recorded before a trap's first session.

Invariant: structure and values of a background come from the CSPRNG once, as `Mention` rows; everything else is
rendered from `background.toml` and those rows alone, so the same rows give the same bytes.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from traps import facts
from traps.background_file import SLOT, Background, BackgroundFile, Template, Value
from traps.schema import EventKind, Scope, TrapError

_UPDATES = 6  # one mention in so many takes up a standing one on purpose


class Mention(NamedTuple):
    """One drawn event: indices into the file, its number and value, and the mention it replaces (-1: none)."""

    episode: int
    template: int
    carrier: int
    author: int
    some: int
    ref: str
    value: str
    replaces: int


@dataclass(frozen=True)
class Told:
    """One event as the world saw it."""

    text: str
    kind: EventKind
    author: str
    authority: int
    date: dt.date
    until: dt.date | None
    scope: Scope


@dataclass(frozen=True)
class PastSession:
    """One background session; `number` counts from 1."""

    number: int
    task: str
    date: dt.date
    prompt: str
    steps: str
    delta: str
    passed: bool
    events: tuple[Told, ...]


def draw(background: Background, n: int, taken: Collection[str] = ()) -> tuple[Mention, ...]:
    """The mentions of `n` episodes, 1 to 3 each; no number or token is in `taken` or drawn twice."""
    spec, used = background.spec, set(taken)
    standing: dict[tuple[int, int], int] = {}
    found: list[Mention] = []
    for episode in range(n):
        for _ in range(1 + secrets.randbelow(3)):
            which, some = _pick(spec, standing)
            before = standing.get((which, some), -1)
            if before >= 0 and found[before].episode == episode:
                continue  # nobody takes a thing back in the session in which it was said
            template = spec.template[which]
            carrier = secrets.choice(spec.carriers(template.kind))
            author = secrets.randbelow(len(spec.carrier[carrier].authors))
            ref = _fresh(spec.carrier[carrier].ref, used)
            value = _value(template.value, used, found[before].value if before >= 0 else "")
            if template.update:
                standing[which, some] = len(found)
            found.append(Mention(episode, which, carrier, author, some, ref, value, before))
    return tuple(found)


def _pick(spec: BackgroundFile, standing: Mapping[tuple[int, int], int]) -> tuple[int, int]:
    """A template and a subject (0 where it has none): now and then one of which something stands, else a new one."""
    if standing and not secrets.randbelow(_UPDATES):
        return secrets.choice(list(standing))
    which = secrets.randbelow(len(spec.template))
    width = len(spec.template[which].some) or 1
    subject = secrets.randbelow(width)
    while (which, subject) in standing:
        subject += width  # two things said of one subject would contradict each other
    return which, subject


def _subject(template: Template, number: int) -> str:
    """The alternatives in turn; from the second turn on with a number: `window 1`, `window 1 (part 2)`."""
    if not template.some:
        return ""
    turn, which = divmod(number, len(template.some))
    return template.some[which] + (f" (part {turn + 1})" if turn else "")


def _fresh(template: str, used: set[str]) -> str:
    """A token of `template` that was not used and holds no used one of its kind (a number within a number)."""
    value = facts.draw_token(template)
    while value in used or any(value[:n] in used for n in range(6, len(value))):
        value = facts.draw_token(template)
    used.add(value)
    return value


def _value(value: Value | None, used: set[str], old: str) -> str:
    if value is None:
        return ""
    if value.variants:
        return secrets.choice([v for v in value.variants if v != old])
    return _fresh(value.format, used)


def episodes(background: Background, n: int, mentions: Sequence[Mention]) -> list[PastSession]:
    """The `n` sessions of the drawn mentions, dates ascending. Raises TrapError when they do not fit the file."""
    spec = background.spec
    told: list[list[tuple[Mention, Told]]] = [[] for _ in range(n)]
    days = (spec.ends - spec.begins).days
    try:
        for mention in mentions:
            day = spec.begins + dt.timedelta(days=days * mention.episode // max(n - 1, 1))
            old = mentions[mention.replaces] if mention.replaces >= 0 else None
            told[mention.episode].append((mention, _told(spec, mention, old, day)))
    except (IndexError, KeyError) as error:
        raise TrapError(f"the drawn background does not fit its file: {error}") from error
    return [_session(spec, number, events) for number, events in enumerate(told, 1) if events]


def _told(spec: BackgroundFile, mention: Mention, old: Mention | None, day: dt.date) -> Told:
    template, carrier = spec.template[mention.template], spec.carrier[mention.carrier]
    until = day + dt.timedelta(days=template.days) if template.days else None
    slots = {
        "ref": mention.ref,
        "author": carrier.authors[mention.author],
        "date": day.isoformat(),
        "place": _place(template.scope),
        "task": template.scope.task,
        "value": mention.value,
        "some": _subject(template, mention.some),
        "until": until.isoformat() if until else "",
        "old": old.value if old else "",
        "old_ref": old.ref if old else "",
    }
    parts = (carrier.opening, template.update if old else template.text, carrier.closing)
    text = "\n\n".join(_fill(part, slots) for part in parts if part)
    return Told(text, template.kind, slots["author"], carrier.authority, day, until, template.scope)


def _place(scope: Scope) -> str:
    """The scope in words: files and symbols in backticks."""
    names = [f"`{name}`" for name in (*scope.files, *scope.symbols)]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _session(spec: BackgroundFile, number: int, events: Sequence[tuple[Mention, Told]]) -> PastSession:
    """Prompt, transcript and delta follow from the first event; its number serves as the source of variety."""
    mention, first = events[0]
    variety, path = int(re.sub(r"\D", "", mention.ref)), first.scope.files[0]
    prompt = _fill(spec.prompts[variety % len(spec.prompts)], {"task": first.scope.task, "file": path})
    passed = not any(spec.template[m.template].failed for m, _ in events)
    line = 1 + variety % 90
    delta = (
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"
        f"@@ -{line},2 +{line},3 @@\n \n+# {first.scope.task}, step {1 + variety % 5}\n \n"
    )
    steps: dict[str, object] = {
        "steps": [
            {"write": path, "bytes": 800 + variety % 7000},
            {"run": ["python", "-m", "pytest", "-q"], "exit": 0 if passed else 1},
        ],
        "recalled": [],
        "error": "",
    }
    told = tuple(t for _, t in events)
    return PastSession(number, first.scope.task, first.date, prompt, json.dumps(steps), delta, passed, told)


def _fill(text: str, slots: Mapping[str, str]) -> str:
    """Fill the slots; a subject at the head of a sentence begins with a capital."""

    def put(match: re.Match[str]) -> str:
        value, before = slots[match[1]], text[: match.start()]
        return value[:1].upper() + value[1:] if match[1] == "some" and re.search(r"(^|[.!?]\s)$", before) else value

    return SLOT.sub(put, text).strip("\n")
