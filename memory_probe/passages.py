"""Raw prior trajectories, cut into passages.

Invariant: no text is lost; the passages of a part of a session, put together, are that part byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_probe.embed import Embedder
from memory_probe.lexical import asked, cosines
from memory_probe.protocol import Episode, Query, count_tokens
from memory_probe.shelf import Kept, Writing
from memory_probe.trajectory import parts

LIMIT = 150
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\s*\S+\s*")


def passages(episode: Episode) -> Writing:
    """A session as passages of at most 150 words. Each part of it (prompt, steps, change, check, every event) starts a
    new passage, so that a passage has one date and one source."""
    return Writing(
        tuple(
            Kept(text, part.date, source=f"session {episode.number}, {part.what}")
            for part in parts(episode)
            for text in cut(part.text)
        )
    )


def cut(text: str, limit: int = LIMIT) -> list[str]:
    """Pieces of at most `limit` words, cut at line ends; a line that is longer by itself is cut between words."""
    pieces: list[str] = []
    held, size = "", 0
    for unit in _units(text, limit):
        count = count_tokens(unit)
        if held and size + count > limit:
            pieces.append(held)
            held, size = "", 0
        held, size = held + unit, size + count
    return [*pieces, held] if held else pieces


def by_cosine(query: Query, held: Sequence[Kept]) -> list[float]:
    """Cosine with the query over word counts."""
    return cosines(asked(query), [kept.text for kept in held])


def by_meaning(embedder: Embedder, query: Query, held: Sequence[Kept]) -> list[float]:
    """Cosine with the query over the vectors of an embedder."""
    return [float(cosine) for cosine in embedder.cosines(asked(query), [kept.text for kept in held])]


def _units(text: str, limit: int) -> Iterator[str]:
    for line in _LINE.findall(text):
        if count_tokens(line) <= limit:
            yield line
        else:
            yield from _WORD.findall(line)
