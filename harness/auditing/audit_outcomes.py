"""Rules about what came out: passes without the evidence, tokens from nowhere, other arms' tokens, `used`.

Invariant: a token has at least 48 bits, so one that is where nothing put it is no chance; note numbers have about 20
and are compared within their own draw alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.auditing.audit_finding import Finding, at, sessions
from harness.auditing.audit_inputs import named
from harness.auditing.audit_material import Case, Material
from harness.auditing.audit_search import TELLING
from harness.bank import GOVERNING
from harness.outcome import Outcome
from harness.records import Ending, SessionRecord
from memory_probe.protocol import View
from traps.facts import fold

EVIDENCE, SOURCE, KEYS, SAME, USED = "evidence", "source", "other keys", "same change", "used"
Change = tuple[tuple[bytes, bytes, str], ...]  # path, mode, git blob; of a deleted file the last two are empty


@dataclass(frozen=True)
class Pass:
    """A pass where something has to be known: which governing facts its view (or the notes that the agent keeps) holds,
    and which it lacks."""

    case: Case
    ending: Ending
    session: SessionRecord | None
    held: tuple[str, ...]
    lacking: tuple[str, ...]


def passes(material: Material) -> Iterator[Pass]:
    """Every pass of an arm whose trap wants something used."""
    for case in material.cases:
        for ending in case.record.endings:
            if ending.outcome == Outcome.PASS and case.history.expect == "use":
                session = case.last(ending.reader)
                view = material.views.get(session.view) if session else None
                notes = material.notes(session).decode("utf-8", "replace") if session else ""
                yield Pass(case, ending, session, *_sorted_out(_governing(case), view or View(), notes))


def _governing(case: Case) -> dict[str, frozenset[str]]:
    """Fact or bare note that governs -> the texts of which one must be there: a token, or the number of its notes."""
    found: dict[str, set[str]] = {}
    draw = case.draw
    for event in case.trap.spec.event:
        if draw is None or case.history.roles.get(event.id) not in GOVERNING:
            continue
        for name in event.carries or (f"note {event.id}",):
            fact = case.trap.spec.facts.get(name)
            text = draw.facts[name] if fact and fact.kind == "token" else draw.refs[event.id]
            found.setdefault(name, set()).add(text)
    return {name: frozenset(texts) for name, texts in found.items()}


def _sorted_out(due: dict[str, frozenset[str]], view: View, notes: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    shown = (*(item.text for item in view.items), notes)
    held = {name for name, texts in due.items() if any(text in each for text in texts for each in shown)}
    return tuple(sorted(held)), tuple(sorted(due.keys() - held))


def evidence(material: Material) -> Iterator[Finding]:
    """A pass where something had to be known holds it in its view, or in the notes that its agent keeps itself: tokens
    by value, other facts by a note's number.

    One that does not is listed; in B0, which has no view, it is a breach.
    """
    for each in passes(material):
        where = f"{each.case.record.arm} {each.ending.reader}".rstrip(" -")
        if each.session is None:
            yield Finding(EVIDENCE, "breach", where, "a pass without a session of it")
        elif each.lacking:
            share = "nothing" if not each.held else "a part"
            told = f"pass with {share} of the evidence in view; not there: {', '.join(each.lacking)}"
            if each.case.record.carried_by_tree:
                told += f" (in the start tree: {', '.join(each.case.record.carried_by_tree)})"
            yield Finding(EVIDENCE, "breach" if each.case.record.condition == "B0" else "note", where, told)


def source(material: Material) -> Iterator[Finding]:
    """A token of the draw in a transcript, a change, the notes that were left or an exchange with the model was in the
    view, the prompt, the start tree or the notes of that session.

    Compared after folding case and hyphens and without white space. A token that a memory handed out in pieces or
    encoded would be listed here too.
    """
    for case, session in sessions(material):
        if case.draw is None:
            continue
        before = material.in_tree(session.tree_in) | material.found.get(session.prompt, frozenset())
        before |= material.in_notes(session)
        after = material.in_change(session) | material.found.get(session.transcript, frozenset())
        after |= material.in_exchange(session)
        after |= material.in_tree(session.memory_out) if session.memory_out else frozenset()
        known = {n.name for n in material.own(case, before)}
        found = [n for n in material.own(case, after) if n.kind != "note" and n.name not in known]
        shown = _given(material, session) if found else ""
        if lost := [n for n in found if _plain(case.draw.facts[n.name]) not in shown]:
            yield Finding(SOURCE, "breach", at(case, session), f"{named(lost)} came from no input of the session")


def _given(material: Material, session: SessionRecord) -> str:
    """What the view and the notes of a session say, to be compared."""
    items = material.views.get(session.view, View()).items
    return _plain(" ".join((*(i.text for i in items), material.notes(session).decode("utf-8", "replace"))))


def _plain(text: str) -> str:
    return "".join(fold(text).split())


def other_keys(material: Material) -> Iterator[Finding]:
    """No artifact of an arm holds a token of another draw: view, prompt, transcript, exchange with a model, store,
    start tree, change, notes."""
    for case in material.cases:
        places: dict[str, set[int]] = defaultdict(set)
        places["the store"] |= material.found.get(case.record.store, frozenset())
        if case.record.asked:
            places["the memory's exchange"] |= material.found.get(case.record.asked.exchange, frozenset())
        for session in case.sessions:
            for kind in ("view", "prompt", "transcript"):
                blob = getattr(session, kind)
                places[f"the {kind} of S{session.number}"] |= material.found.get(blob, frozenset())
            places[f"the start tree of S{session.number}"] |= material.in_tree(session.tree_in)
            places[f"the change of S{session.number}"] |= material.in_change(session)
            places[f"the exchange of S{session.number}"] |= material.in_exchange(session)
            for tree in (session.memory_in, session.memory_out):
                places[f"the notes of S{session.number}"] |= material.in_tree(tree) if tree else frozenset()
        for place, found in places.items():
            for needle in material.foreign(case, found):
                told = f"{place} holds the token {needle.name} of {needle.key[0]} seed {needle.key[1]}"
                yield Finding(KEYS, "breach", case.record.arm, told)


@dataclass(frozen=True)
class Made:
    """The production change of one ending."""

    case: Case
    ending: Ending
    change: Change


def made(material: Material) -> Iterator[Made]:
    """The S3 change of every ending that has one."""
    for case in material.cases:
        for ending in case.record.endings:
            session = case.last(ending.reader)
            if session is not None and session.tree_out:
                files = material.production(case, session)
                change = tuple((d.path, d.new.mode if d.new else b"", d.new.id if d.new else "") for d in files)
                if change:
                    yield Made(case, ending, change)


def same_change(material: Material) -> Iterator[Finding]:
    """Where a token is due, two seeds of a trap and condition have different changes, unless neither passes.

    (An agent that was shown nothing makes the same wrong change for every seed.)
    """
    groups: dict[tuple[str, str, str, str, Change], list[Made]] = defaultdict(list)
    for each in made(material):
        if _token_due(each.case):
            record = each.case.record
            key = record.trap, record.condition, record.history, each.ending.reader, each.change
            groups[key].append(each)
    for some in groups.values():
        seeds = sorted({each.case.record.seed for each in some})
        passed = [each for each in some if each.ending.outcome == Outcome.PASS]
        if len(seeds) > 1 and passed:
            told = f"the same S3 change for seeds {', '.join(map(str, seeds))}, and it passes"
            yield Finding(SAME, "breach", f"{passed[0].case.record.arm} {passed[0].ending.reader}".rstrip(" -"), told)


def _token_due(case: Case) -> bool:
    facts = case.trap.spec.facts
    due = (name for name in _governing(case) if name in facts)
    return case.history.expect == "use" and any(facts[name].kind == "token" for name in due)


def shares(material: Material) -> Counter[str]:
    """How often S3 changes are the same text, which for a deterministic agent is what to expect."""
    told: Counter[str] = Counter()
    across: dict[tuple[str, int, str, str], list[Made]] = defaultdict(list)
    for each in made(material):
        record = each.case.record
        across[record.trap, record.seed, record.history, each.ending.reader].append(each)
    for some in across.values():
        kinds = Counter(each.change for each in some)
        told.update(changes=len(some), shared=sum(n for n in kinds.values() if n > 1), different=len(kinds))
    return told


def used(material: Material) -> Iterator[Finding]:
    """`used` of a judged ending names the facts whose text its change added, and no other.

    Facts that the oracle derives are not drawn and are left out; short choices too, as the scorer leaves them out.
    """
    for case in material.cases:
        for ending in case.record.endings:
            session = case.last(ending.reader)
            if not ending.checks or session is None or not session.tree_out or case.draw is None:
                continue
            if not material.readable(session):
                continue
            said = {n for n in ending.used if len(case.draw.facts.get(n, "")) >= TELLING}
            found = set(_added(material, case, session))
            where = f"{case.record.arm} {ending.reader}".rstrip(" -")
            if extra := sorted(said - found):
                yield Finding(USED, "breach", where, f"used says {', '.join(extra)}, the change does not hold it")
            if missing := sorted(found - said):
                yield Finding(USED, "breach", where, f"the change holds {', '.join(missing)}, used does not say so")


def _added(material: Material, case: Case, session: SessionRecord) -> Iterable[str]:
    """Names of the values that a production change put into a file that had them not."""
    for changed in material.production(case, session):
        if changed.new:
            before = material.seen.get(changed.old.id, frozenset()) if changed.old else frozenset()
            for number in material.seen.get(changed.new.id, frozenset()) - before:
                needle = material.needle(number)
                if needle.key == case.key and needle.kind in ("token", "choice"):
                    yield needle.name
