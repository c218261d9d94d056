"""Gate `diversity`: no skeleton holds more than its share, and no trap is another one under different names.

Likeness is the Jaccard index of five-word shingles over prompts, events and oracle, without what is drawn. Invariant: a
trap is compared with every other one that is given, and the nearest is named even when nothing is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from traps.gates import Problem
from traps.load import Trap

MOST = 4  # traps of a skeleton
ALIKE = 0.30  # from here on two traps are nearly the same
_SIZE = 5
_SLOT = re.compile(r"<<.*?>>", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Print:
    """What is compared of a trap: its skeleton and the shingles of its texts."""

    trap: str
    skeleton: str
    shingles: frozenset[str]


def fingerprint(trap: Trap, oracle: str) -> Print:
    """The print of a trap with the source of its oracle."""
    return Print(trap.id, trap.spec.skeleton, shingles([*trap.texts.values(), oracle]))


def shingles(texts: Sequence[str]) -> frozenset[str]:
    """Every run of five words, in lower case; slots count as nothing. A text shorter than that is one shingle."""
    found: set[str] = set()
    for text in texts:
        words = _WORD.findall(_SLOT.sub(" ", text).lower())
        count = max(len(words) - _SIZE + 1, 1 if words else 0)
        found.update(" ".join(words[i : i + _SIZE]) for i in range(count))
    return frozenset(found)


def likeness(one: Print, other: Print) -> float:
    """Share of their shingles that both have, 0..1; 0 when neither has any."""
    union = len(one.shingles | other.shingles)
    return len(one.shingles & other.shingles) / union if union else 0.0


def nearest(one: Print, others: Mapping[str, Print]) -> tuple[str, float]:
    """The most similar other trap and how similar; ("", 0) without any."""
    found = [(likeness(one, other), name) for name, other in others.items() if name != one.trap]
    share, name = max(found, default=(0.0, ""))
    return name, share


def diversity_problems(one: Print, others: Mapping[str, Print]) -> Iterator[Problem]:
    """What speaks against a trap beside these others (its own entry, if there, is left out)."""
    same = sorted(name for name, other in others.items() if name != one.trap and other.skeleton == one.skeleton)
    if len(same) >= MOST:
        message = f"{one.skeleton!r} is full: {', '.join(same[:MOST])}{' and more' if len(same) > MOST else ''} have it"
        yield Problem("diversity", "skeleton", message)
    for name, other in sorted(others.items()):
        if name != one.trap and (share := likeness(one, other)) >= ALIKE:
            yield Problem("diversity", name, f"nearly the same texts: {share:.2f} of all shingles are in both")
