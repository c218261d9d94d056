"""Notes that an agent keeps itself, as whoever checks a run has to find them: turns, prompts, what is handed on.

A run makes them in `harness.stage` and `harness.bank`; here the same is made again from what a run recorded. Invariant:
everything may have come from somebody else, so that no template engine fills anything here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.draw import Draw
from harness.records import Carried, SessionRecord
from harness.replaying.slots import fill_strictly
from harness.snapshot import LINK, REGULAR, Entry, Snapshot, to_tar, tree_id
from harness.stage import DEBRIEF
from memory_probe.files import CARD, debrief
from memory_probe.protocol import Note, Scope
from traps.load import Trap

ROW = "mount /memory"  # of a carry manifest: the directory of the notes
EMPTY_TREE = tree_id({})


def keeps(condition: str) -> bool:
    """Whether the agent itself keeps the memory of a condition."""
    return condition == CARD.code


def is_debrief(session: SessionRecord) -> bool:
    """Whether a session is the further turn after S1 or S2, whose tree is dropped."""
    return session.reader == DEBRIEF


def work(sessions: Iterable[SessionRecord]) -> list[SessionRecord]:
    """The sessions that worked on the repository: all but the further turns."""
    return [session for session in sessions if not is_debrief(session)]


def due(trap: Trap, history: str, number: int) -> bool:
    """Whether there is something to tell an agent that keeps notes after session `number`."""
    return number in (1, 2) and bool(trap.events(history, number))


def debrief_prompt(trap: Trap, history: str, number: int, draw: Draw) -> str:
    """The prompt of the further turn after session `number`. Raises TrapError, KeyError for what cannot be filled."""
    told: list[Note] = []
    for event in trap.events(history, number):
        slots = {**draw.facts, "ref": draw.refs[event.id], "refs": dict(draw.refs)}
        text = fill_strictly(trap.texts[event.text], slots, event.text).rstrip("\n")
        told.append(Note(text, event.kind, event.author, event.authority, event.date, event.until, Scope()))
    return debrief(told)


def handed_on(left: Snapshot) -> dict[bytes, Entry]:
    """What the next session finds of the notes that one left: plain files with names in UTF-8."""
    found: dict[bytes, Entry] = {}
    for path, entry in left.items():
        name = path.decode("utf-8", "replace")
        if entry.mode != LINK and "\ufffd" not in name:
            found[name.encode()] = Entry(REGULAR, entry.data)
    return found


def carried(notes: Snapshot) -> bytes:
    """The tar in which a directory of notes enters a session."""
    return to_tar(notes)


def size(notes: Snapshot) -> int:
    """Bytes of its files."""
    return sum(len(entry.data) for entry in notes.values())


def row(session: SessionRecord) -> Carried | None:
    """What the carry manifest says of the notes."""
    return next((row for row in session.carried if row.name == ROW), None)


def chain(sessions: Sequence[SessionRecord]) -> Iterator[tuple[SessionRecord, SessionRecord | None]]:
    """Each session with the one whose notes it finds; None for the first."""
    before: SessionRecord | None = None
    for session in sessions:
        yield session, before
        before = session if session.number < 3 else before
