"""Notes that an agent keeps itself: does each session find what the one before left, and nothing else?

Invariant: the directory that a session found is made again from the tree that the one before left, as the harness
makes it, and compared with what its carry manifest says entered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from harness import kept
from harness.objects import ObjectStore
from harness.outcome import Fault, UsageFault
from harness.prompts import item_from
from harness.records import SessionRecord
from harness.snapshot import Snapshot, tree_id
from harness.verification.case import Case
from harness.verification.check_channel import where
from memory_probe.protocol import View
from memory_probe.render import memory_bytes

Read = Callable[[str], Snapshot]


def notes_problems(case: Case) -> Iterator[str]:
    """Of every attempt at an arm whose memory the agent keeps."""
    whole = case.whole
    if whole is None:
        return
    read = ObjectStore(whole.folder.objects).get
    for (arm, _), sessions in whole.archive.attempts.items():
        if arm.count("/") == 3 and kept.keeps(arm.split("/")[1]):
            for session, before in kept.chain(sessions):
                view = whole.archive.view(session.view)
                try:
                    shown = memory_bytes(View(tuple(item_from(item) for item in view.items)))
                except (ValueError, TypeError, KeyError, AttributeError):
                    continue  # told among the views
                if why := broken(session, before, shown, read):
                    yield f"{where(arm, session)}: {why}"


def broken(session: SessionRecord, before: SessionRecord | None, shown: int, read: Read) -> str:
    """Why a session did not find the notes that it has to; "" if it did. `shown` are the bytes of its view."""
    if session.memory_in is None or (before is not None and before.memory_out is None):
        return "its notes are not told"
    try:
        notes = read(session.memory_in)
        due = kept.EMPTY_TREE if before is None else tree_id(kept.handed_on(read(before.memory_out or "")))
    except (Fault, UsageFault):
        return "its notes cannot be read"
    if session.memory_in != due:
        left = "nothing" if before is None else "what the session before left"
        return f"the notes that it found are not {left}"
    row, data = kept.row(session), kept.carried(notes)
    if row is None or (row.bytes, row.sha256) != (len(data), hashlib.sha256(data).hexdigest()):
        return "the notes that were carried are not those that it is said to have found"
    if session.memory_bytes != shown + kept.size(notes):
        return f"{session.memory_bytes} bytes of memory are told, notes and view have {shown + kept.size(notes)}"
    return ""
