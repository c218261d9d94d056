"""A finished session as one text for a model, within a number of bytes.

Invariant: what does not fit is cut at the end of a part, marked in the text, and returned; events come first, so they
are the last to be cut.
"""

from __future__ import annotations

from dataclasses import dataclass

from memory_probe.protocol import Episode, Note, Rejected
from memory_probe.trajectory import check

MOST_BYTES = 48_000  # of the parts together, in UTF-8; headings and marks are not counted


@dataclass(frozen=True)
class Telling:
    """The text, and what was cut from it."""

    text: str
    cut: tuple[Rejected, ...]


def tell(episode: Episode, most: int = MOST_BYTES) -> Telling:
    """The events, then what was asked, how the check ended, what was changed and what was done."""
    head = f"Session {episode.number}, {episode.date.isoformat()}, project {episode.repository}, task: {episode.task}"
    told, cut, room = [head], list[Rejected](), most
    for heading, text in _parts(episode):
        if not text.strip():
            continue
        kept, left = cut_at(text, room)
        room -= len(_utf8(kept))
        mark = f"\n[{len(_utf8(left))} bytes are left out]" if left else ""
        told.append(f"=== {heading} ===\n{kept}{mark}")
        if left:
            cut.append(Rejected(left, f"over {most} bytes: not shown to the model"))
    return Telling("\n\n".join([*told, "=== end of the session ==="]), tuple(cut))


def about(note: Note) -> str:
    """Kind, author, date and scope of an event in one line."""
    where = [", ".join(note.scope.files), ", ".join(note.scope.symbols), note.scope.task]
    scope = "; ".join(part for part in where if part) or "everywhere"
    until = f", until {note.until.isoformat()}" if note.until else ""
    kind = note.kind.replace("_", " ")
    return f"{kind}, by {note.author or 'nobody named'}, {note.date.isoformat()}{until}, on {scope}"


def cut_at(text: str, most: int) -> tuple[str, str]:
    """(the longest beginning of at most `most` bytes in UTF-8, the rest)."""
    data = _utf8(text)
    if len(data) <= most:
        return text, ""
    kept = len(data[: max(0, most)].decode("utf-8", "ignore"))
    return text[:kept], text[kept:]


def _parts(episode: Episode) -> list[tuple[str, str]]:
    return [
        *((f"event {number}: {about(note)}", note.text) for number, note in enumerate(episode.notes, 1)),
        ("what was asked", episode.prompt),
        ("how the public check ended", check(episode)),
        ("what was changed", episode.delta),
        ("what was done", episode.steps),
    ]


def _utf8(text: str) -> bytes:
    """A character that UTF-8 cannot say counts as the one byte that stands for it."""
    return text.encode("utf-8", "replace")
