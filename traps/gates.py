"""Static gates: what can be said against a trap by looking at its files alone.

Invariant: a gate reports `Problem`s and changes nothing; it never guesses a mend.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from traps import facts
from traps.load import Trap, note_text
from traps.schema import Event, Poison, TrapError
from traps.unwritten import left_in

#: Words that would tell an agent what it is in.
_TELLING = re.compile(
    r"\b(dreambench|benchmark|trap|oracle|haystack|C(?:10|[1-9])|B[0-7]|POISON|EVIDENCE|memory condition)\b"
)
_TELLING_VARIANT = 4  # characters
_CREDENTIAL = re.compile(r"\b(token|secret|password|passwd|api[ _-]?key|credential)\b", re.I)


@dataclass(frozen=True)
class Problem:
    """Something that keeps a trap out. `fixable` says that a tool could derive the mend."""

    gate: str
    where: str
    message: str
    fixable: bool = False


def static_problems(trap: Trap) -> list[Problem]:
    """The problems of the gates format, entropy and leak, and what is still to be written."""
    return [*format_gate(trap), *entropy_gate(trap), *leak_gate(trap), *unwritten(trap.folder)]


def unwritten(folder: Path) -> Iterator[Problem]:
    """Every mark of a scaffold that is left in a trap or oracle folder."""
    for left in left_in(folder):
        yield Problem("unwritten", left.where, left.text)


def format_gate(trap: Trap) -> Iterator[Problem]:
    """Facts are carried and used, slots fill, prompts tell nothing, events say who, when and where in plain words."""
    carried = {name for note in _notes(trap) for name in note.carries}
    for name, fact in trap.spec.facts.items():
        if fact.kind != "derived" and name not in carried:
            yield Problem("format", f"facts.{name}", "no event carries this fact")
    for session in trap.spec.session:
        text = trap.texts[session.prompt]
        if "<<" in text:
            yield Problem("format", session.prompt, "a prompt may not have slots")
        if found := _TELLING.search(text):
            yield Problem("format", session.prompt, f"the prompt tells what it is part of: {found.group()!r}")
        if trap.id in text:
            yield Problem("format", session.prompt, "the prompt names the trap")
    for name, line in trap.first.items():
        if line == 1:
            yield Problem("format", name, "its first line is not the canary line", fixable=True)
    if (trap.spec.construct_ == "C9") != any(h.name == "disconfirmed" for h in trap.spec.history):
        yield Problem("format", "history", "C9, and only C9, has the histories confirmed and disconfirmed")
    for note in _notes(trap):
        yield from _note_problems(trap, note)


def _note_problems(trap: Trap, note: Event | Poison) -> Iterator[Problem]:
    values = facts.draw(trap.spec.facts)
    refs = {n.id: facts.draw_token(n.ref) for n in _notes(trap)}
    try:
        text = note_text(trap, note, values, refs)
    except TrapError as error:
        yield Problem("format", note.text, str(error))
        return
    for name in note.carries:
        if name in values and values[name] not in text:
            yield Problem("format", note.text, f"says it carries {name} but its text does not hold the value")
    replaced = {trap.spec.facts[name].supersedes for name in note.carries}
    for name, value in values.items():
        if name not in note.carries and name not in replaced and len(value) >= 12 and value in text:
            yield Problem("format", note.text, f"holds {name} without saying so in `carries`", fixable=True)
    if refs[note.id] not in text:
        yield Problem("format", note.text, "does not hold its own note number (<< ref >>)")
    if note.author.lower() not in text.lower():
        yield Problem("format", note.text, f"does not name its author ({note.author})")
    if note.date.isoformat() not in text:
        yield Problem("format", note.text, f"does not say its date ({note.date})")
    if note.until and note.until.isoformat() not in text:
        yield Problem("format", note.text, f"does not say until when it holds ({note.until})")
    if _CREDENTIAL.search(text):
        yield Problem("format", note.text, "talks of credentials, which some stores redact")


def entropy_gate(trap: Trap) -> Iterator[Problem]:
    """Tokens have at least 48 bits, choices four variants, and no two values can be taken for one another."""
    for name, fact in trap.spec.facts.items():
        if fact.kind == "token" and (found := facts.bits(fact.format)) < facts.MIN_BITS:
            yield Problem("entropy", f"facts.{name}", f"{found:.0f} bits; a token has at least {facts.MIN_BITS}")
        if fact.kind == "choice" and len({facts.fold(v) for v in fact.variants}) < 4:
            yield Problem("entropy", f"facts.{name}", "a choice has at least four variants that differ")
    drawn = {n: facts.fold(v) for n, v in facts.draw(trap.spec.facts).items()}
    for (one, left), (other, right) in itertools.combinations(drawn.items(), 2):
        if left == right and trap.spec.facts[one].kind == "token":
            yield Problem("entropy", f"facts.{one}", f"collides with {other}")


def leak_gate(trap: Trap) -> Iterator[Problem]:
    """No file an agent sees before S3 has something of a token's form, and none tells which variant a choice has."""
    public = {"playbook.py": trap.playbook.decode("utf-8", "replace"), trap.spec.session[2].prompt: _s3(trap)}
    public |= {
        p: f.data.decode("utf-8", "replace") for tree in (trap.fixture.tree, *trap.overlays) for p, f in tree.items()
    }
    told = {name: public[name] for name in ("playbook.py", trap.spec.session[2].prompt)}
    for name, fact in trap.spec.facts.items():
        if fact.kind == "choice":
            yield from _choice_told(name, fact.variants, told)
        if fact.kind != "token":
            continue
        pattern = re.compile(facts.pattern(fact.format))
        for path, text in public.items():
            if found := pattern.search(text):
                yield Problem("leak", path, f"holds something of the form of {name}: {found.group()!r}")
    playbook = public["playbook.py"]
    if found := _TELLING.search(playbook):
        yield Problem("leak", "playbook.py", f"tells what it is part of: {found.group()!r}")


def _choice_told(name: str, variants: Sequence[str], told: Mapping[str, str]) -> Iterator[Problem]:
    """A prompt or playbook that knows some variants and not others; short ones stand anywhere by chance."""
    if min(map(len, variants), default=0) < _TELLING_VARIANT:
        return
    for path, text in told.items():
        held = [v for v in variants if re.search(rf"(?<!\w){re.escape(v)}(?!\w)", text)]
        if held and len(held) < len(variants):
            yield Problem("leak", path, f"holds {', '.join(held)} of the variants of {name}, and not the others")


def _s3(trap: Trap) -> str:
    return trap.texts[trap.spec.session[2].prompt]


def _notes(trap: Trap) -> tuple[Event | Poison, ...]:
    return (*trap.spec.event, *trap.spec.poison)
