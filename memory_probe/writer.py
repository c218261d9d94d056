"""The extractive writer: memory texts made of whole lines of what was seen, within a number of words.

Invariant: it is deterministic, every line it writes is a line of its sources byte for byte, and what it leaves out it
returns. A model writer would have the same signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_probe.protocol import Rejected, count_tokens

LIMIT = 250
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Written:
    """The texts taken, in the order of their sources, and the lines left out."""

    taken: tuple[str, ...]
    dropped: tuple[Rejected, ...]

    @property
    def text(self) -> str:
        """The memory text: what was taken of each source, a blank line between."""
        return "\n\n".join(self.taken)

    @property
    def size(self) -> int:
        """Words taken."""
        return sum(count_tokens(text) for text in self.taken)


Writer = Callable[[Sequence[str], int], Written]


def extract(sources: Sequence[str], limit: int = LIMIT) -> Written:
    """Sources in the order given (the caller puts events first): a source is taken whole if it fits in what is left of
    `limit` words, else those of its lines, in order, that do."""
    taken: list[str] = []
    dropped: list[Rejected] = []
    room = limit
    for source in sources:
        kept, left = _lines(source, room)
        room -= count_tokens(kept)
        if kept.strip():
            taken.append(kept)
        if left.strip():
            dropped.append(Rejected(left, f"over {limit} words: {count_tokens(left)} more did not fit"))
    return Written(tuple(taken), tuple(dropped))


def _lines(source: str, room: int) -> tuple[str, str]:
    """(lines that fit, lines that do not)."""
    if count_tokens(source) <= room:
        return source, ""
    kept: list[str] = []
    left: list[str] = []
    for line in _LINE.findall(source):
        size = count_tokens(line)
        fits = size <= room
        (kept if fits else left).append(line)
        room -= size if fits else 0
    return "".join(kept), "".join(left)
