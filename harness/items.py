"""From the trap's world to the memory's: notes of an episode, queries, and the items of the instruments.

Invariant: what leaves here has no role, no fact name, no construct and no history; this is the only door.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.draw import Draw
from memory_probe.protocol import Note, Query, Scope, ViewItem
from traps.load import Trap, note_text
from traps.schema import Event, Poison
from traps.schema import Scope as TrapScope


def note(trap: Trap, event: Event | Poison, draw: Draw) -> Note:
    """An event as the world saw it."""
    return Note(
        text=note_text(trap, event, draw.facts, draw.refs).rstrip("\n"),
        kind=event.kind,
        author=event.author,
        authority=event.authority,
        date=event.date,
        until=event.until,
        scope=_scope(event.scope),
    )


def items(trap: Trap, events: Sequence[Event | Poison], draw: Draw) -> tuple[ViewItem, ...]:
    """The items of EVIDENCE or POISON: every field but the state, which nobody told."""
    found = [note(trap, event, draw) for event in events]
    return tuple(ViewItem(n.text, n.date, n.kind, n.scope, "unknown") for n in found)


def query(trap: Trap, step: int) -> Query:
    """What is known before a session."""
    session = trap.spec.session[step - 1]
    return Query(
        prompt=trap.texts[session.prompt],
        paths=session.paths,
        symbols=session.symbols,
        repository=trap.spec.fixture,
        task=session.task,
        now=session.date,
    )


def carried_facts(trap: Trap, history: str) -> tuple[str, ...]:
    """Names of the facts that the events of a history carry, in file order."""
    roles = trap.history(history).roles
    return tuple(dict.fromkeys(f for e in trap.spec.event if e.id in roles for f in e.carries))


def _scope(scope: TrapScope) -> Scope:
    return Scope(scope.files, scope.symbols, scope.task)
