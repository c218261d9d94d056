"""Rules about what entered a session: nothing but the declared rows, and no fact but through the view.

The record keeps the bytes of prompt, view and tree, and of all other inputs (command, environment, the agent's program,
the repository around the tree) only size and digest. Invariant: an input that can be made again here is made again and
compared; one that cannot is listed as not looked at, never taken for clean.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from containers.layer import LAYER
from containers.sandbox import AGENT, TASK, WORK, Spec
from harness import kept
from harness.agents import make_agent
from harness.agents.agent import Script, Task
from harness.agents.command import CommandAgent
from harness.auditing.audit_finding import Finding, at, sessions
from harness.auditing.audit_material import Case, Material
from harness.auditing.audit_search import Needle
from harness.outcome import UsageFault
from harness.prompts import Prompt, prompt_of
from harness.records import Carried, SessionRecord
from harness.session import session_limits
from harness.snapshot import Entry, Snapshot
from harness.stage import DEBRIEF
from harness.verification.check_notes import broken
from memory_probe.protocol import View
from memory_probe.render import HEADING, memory_bytes
from traps.fixtures import File
from traps.fixtures import to_tar as files_tar
from traps.schema import Event, Poison, TrapError

ROWS = (f"mount {AGENT}", f"mount {TASK}", f"mount {WORK}", "prompt", "memory in prompt", "command", "environment")
_LAYER = f"layer {LAYER}"  # of agents whose programs are installed
_SLOT = re.compile(r"<<(.{0,400}?)>>", re.S)
_NAME = re.compile(r"refs\.([a-z][a-z0-9_]*)|([A-Za-z_][A-Za-z0-9_]*)")
Made = Mapping[str, tuple[str, frozenset[int]] | None]
RULE, TREE, TIME = "inputs", "start trees", "told in time"


def inputs(material: Material) -> Iterator[Finding]:
    """The carry manifest has the declared rows, once each; prompt, memory part and mounts are what they have to be."""
    for case in material.cases:
        times = Counter((s.number, s.reader) for s in case.sessions)
        for session in case.sessions:
            if session.number not in (1, 2, 3):
                yield Finding(RULE, "breach", at(case, session), "an arm has no such session")
            elif (n := times[session.number, session.reader]) > 1:
                yield Finding(RULE, "breach", at(case, session), f"one attempt has this session {n} times")
    made: dict[tuple[str, int, str, bool], Made] = {}
    for case, session in sessions(material):
        key = case.trap.id, session.number, session.reader, kept.keeps(case.record.condition)
        if key not in made:
            made[key] = _made(material, case, session)
        rows = {row.name: row for row in session.carried}
        for message in (
            *_names_of(case, session),
            *_prompt(material, case, session, rows),
            *_notes(material, case, session),
            *_program(material, case, rows, made[key]),
        ):
            yield Finding(RULE, "breach", at(case, session), message)
        material.miss(f"mount {WORK}", "the repository around the tree is made by git; its bytes are not kept")


def _names_of(case: Case, session: SessionRecord) -> Iterator[str]:
    names = Counter(row.name for row in session.carried)
    due = {*ROWS, *([kept.ROW] if kept.keeps(case.record.condition) else ())}
    for name in sorted({*due, *names}):
        if names[name] != 1 or name not in {*due, _LAYER}:
            yield f"the manifest has {names[name]} rows {name!r}"


def _notes(material: Material, case: Case, session: SessionRecord) -> Iterator[str]:
    """The directory of an agent that keeps notes: what the session before left, as it was carried, and its bytes."""
    view = material.views.get(session.view)
    if not kept.keeps(case.record.condition) or view is None:
        return
    before = next((old for each, old in kept.chain(case.sessions) if each is session), None)
    if why := broken(session, before, memory_bytes(view), lambda tree: _snapshot(material, tree)):
        yield why


def _snapshot(material: Material, tree: str) -> Snapshot:
    """A tree that was read. Raises UsageFault where a part could not be."""
    if material.trees.broken_in(tree):
        raise UsageFault("a part of it cannot be read")
    rows = material.trees.files(tree)
    bodies = dict(material.trees.bodies(row.id for row in rows.values()))
    return {path: Entry(row.mode.decode("ascii", "replace"), bodies[row.id]) for path, row in rows.items()}


def _prompt(material: Material, case: Case, session: SessionRecord, rows: Mapping[str, Carried]) -> Iterator[str]:
    view = material.views.get(session.view)
    if view is None or session.number not in (1, 2, 3):
        material.miss("a prompt", "its view cannot be read, and with it not compared")
        return
    try:
        text, told = _told(material, case, session, view)
    except (TrapError, KeyError):
        material.miss("a prompt", "what was to be told cannot be made")
        return
    prompt, memory = told.whole, told.memory
    task = hashlib.sha256(files_tar({"prompt.md": File(prompt.encode())})).hexdigest()
    held = material.own(case, material.search(text.encode()))
    if _digest(prompt) == session.prompt:
        wanted = {"prompt": _digest(prompt), "memory in prompt": _digest(memory), f"mount {TASK}": task}
        yield from _differing(rows, wanted)
    else:
        work = "the task's text and the rendering of the view"
        yield f"the prompt is not {'what was said after the session' if kept.is_debrief(session) else work}"
        try:
            outside = material.blob(session.prompt).partition(f"\n\n{HEADING}".encode())[0]
            held = material.own(case, material.search(outside))
        except UsageFault:
            pass  # counted when it was to be read
    if not kept.keeps(case.record.condition) and session.memory_bytes != memory_bytes(view):
        yield f"memory_bytes is {session.memory_bytes}, the view has {memory_bytes(view)}"
    if held:
        yield f"the prompt outside of its memory part holds {named(held)}"


def _told(material: Material, case: Case, session: SessionRecord, view: View) -> tuple[str, Prompt]:
    """The task's text, and the prompt that it makes with the view. A further turn is told the notes, and has no task.

    Raises TrapError, KeyError for notes that cannot be made.
    """
    if kept.is_debrief(session) and case.draw is not None:
        return "", Prompt(kept.debrief_prompt(case.trap, case.history.name, session.number, case.draw), "")
    about = case.trap.spec.session[session.number - 1]
    text = case.trap.texts[about.prompt]
    return text, prompt_of(text, view, about.date, material.run.config.delivery)


def _differing(rows: Mapping[str, Carried], wanted: Mapping[str, str]) -> Iterator[str]:
    for name, digest in wanted.items():
        if name in rows and rows[name].sha256 != digest:
            yield f"{name}: what entered is not what the recorded prompt and view make"


def _made(material: Material, case: Case, session: SessionRecord) -> Made:
    """Command, environment and the agent's program, made again where they can be: name -> (sha256, values in it)."""
    config = material.run.config.agent
    spec = _spec(material, case, session)
    program = None if config.name == "command" or (config.name == "solution" and session.number == 3) else spec
    made = {
        "environment": "\0".join(f"{k}={v}" for k, v in sorted(spec.env.items())).encode() if spec else None,
        "command": "\0".join(spec.command).encode() if spec else None,
        f"mount {AGENT}": program.mounts[AGENT].tar if program else None,
    }
    return {n: None if d is None else (hashlib.sha256(d).hexdigest(), material.search(d)) for n, d in made.items()}


def _program(material: Material, case: Case, rows: Mapping[str, Carried], made: Made) -> Iterator[str]:
    for name, known in made.items():
        if name not in rows:
            continue
        if known is None or rows[name].sha256 != known[0]:
            why = "only its digest is kept" if known is None else "it is not what this version would put there"
            material.miss(name, f"{why} (agent {material.run.config.agent.name})")
        elif held := material.own(case, known[1]):
            yield f"{name} holds {named(held)}"


def _spec(material: Material, case: Case, session: SessionRecord) -> Spec | None:
    """What the configured agent would be started with. No file that the configuration names is read."""
    run = material.run.config
    config, model = run.agent, run.model if run.model.name else None
    level = session.reader if session.reader not in ("", "-", DEBRIEF) else "careful"
    solution: Snapshot | None = {} if session.number == 3 else None
    notes = b"" if kept.keeps(case.record.condition) else None
    pulls = run.delivery == "pull" and not kept.is_debrief(session)
    limits = session_limits(run)
    task = Task(session.number, "", b"", level, limits, Script(case.trap.playbook, solution), notes, pulls)
    try:
        agent = CommandAgent(config.command, None, model) if config.name == "command" else make_agent(run)
    except UsageFault:
        return None
    return agent.spec(task)


def start_trees(material: Material) -> Iterator[Finding]:
    """A start tree holds no token and no note number of its draw, but for what the agent itself wrote into it.

    What the trap lays over a tree has no drawn value; so one in the tree of S3 was written in S1 or S2 (a note, and the
    record has to say it in `carried_by_tree`), and one in the trees before, or written by nobody, is a breach.
    """
    for case in material.cases:
        written: set[int] = set()
        for session in case.sessions:
            held = material.own(case, material.in_tree(session.tree_in))
            if kept.is_debrief(session):  # on the tree as its session left it, and its own is dropped
                known = {needle.name for needle in material.own(case, written)}
                if strange := [needle for needle in held if needle.name not in known]:
                    told = f"the start tree holds {named(strange)}, which no session wrote"
                    yield Finding(TREE, "breach", at(case, session), told)
                continue
            if held and session.number == 3:
                yield from _carried(material, case, session, held, written)
            elif held:
                yield Finding(TREE, "breach", at(case, session), f"the start tree holds {named(held)}")
            if session.number == 3 and material.readable(session):
                yield from _as_recorded(case, session, held)
            else:
                written |= material.in_change(session)


def _carried(
    material: Material, case: Case, session: SessionRecord, held: Iterable[Needle], written: Iterable[int]
) -> Iterator[Finding]:
    own = {needle.name for needle in material.own(case, written)}
    for needle in held:
        if needle.name in own:
            yield Finding(TREE, "note", at(case, session), f"the start tree holds {named([needle])}, written before")
        else:
            told = f"the start tree holds {named([needle])}, which no session wrote"
            yield Finding(TREE, "breach", at(case, session), told)


def _as_recorded(case: Case, session: SessionRecord, held: Iterable[Needle]) -> Iterator[Finding]:
    found, said = {n.name for n in held if n.kind == "token"}, set(case.record.carried_by_tree)
    for name in sorted(found ^ said):
        told = (
            "is in the start tree; carried_by_tree does not say so"
            if name in found
            else ("is in carried_by_tree, and not in the start tree")
        )
        yield Finding(TREE, "breach", at(case, session), f"{name} {told}")


def told_in_time(material: Material) -> Iterator[Finding]:
    """What a session is given holds no fact of its draw that no event had told by then: the prompt, the view that it
    asked for, the notes that its agent keeps. An instrument is shown all notes in S3."""
    for case in material.cases:
        instrument = _instrument(material, case)
        for session in case.sessions:
            known = _known(case, session.number + kept.is_debrief(session), instrument)
            places = {"the prompt holds": material.found.get(session.prompt, frozenset())}
            places["the notes hold"] = material.in_notes(session)
            if material.run.config.delivery == "pull":
                places["the view holds"] = material.found.get(session.view, frozenset())
            for place, found in places.items():
                if early := [needle for needle in material.own(case, found) if needle.name not in known]:
                    told = f"{place} {named(early)}, which nothing had told by then"
                    yield Finding(TIME, "breach", at(case, session), told)


def _known(case: Case, step: int, instrument: bool) -> set[str]:
    """Names of the values that can be known before a session."""
    if instrument:
        notes: Iterable[Event | Poison] = (*case.trap.spec.event, *case.trap.spec.poison) if step == 3 else ()
    else:
        notes = [e for e in case.trap.spec.event if e.id in case.history.roles and e.after < step]
    return {name for note in notes for name in slots(case.trap.texts[note.text], note)}


@cache
def _names(template: str) -> frozenset[str]:
    found = (match for slot in _SLOT.findall(template) for match in _NAME.finditer(slot))
    return frozenset(f"ref:{match[1]}" if match[1] else match[2] for match in found)


def slots(template: str, note: Event | Poison) -> set[str]:
    """Names of the drawn values that a note may hold, read off its template without filling it."""
    return {f"ref:{note.id}" if name == "ref" else name for name in _names(template)} | set(note.carries)


def _instrument(material: Material, case: Case) -> bool:
    cards = material.run.stored.meaning.get("conditions")
    card = cards.get(case.record.condition) if isinstance(cards, dict) else None
    return isinstance(card, dict) and card.get("instrument") is True


def named(needles: Iterable[Needle]) -> str:
    """Names of values, never the values."""
    texts = [f"note number {n.name[4:]}" if n.kind == "note" else f"token {n.name}" for n in needles]
    return ", ".join(dict.fromkeys(texts))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
