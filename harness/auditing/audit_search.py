"""Many exact texts looked for in many bytes: the drawn values of a whole run, in one pass over each blob.

Invariant: what is found is there byte for byte, and nothing that is there byte for byte is missed; a changed form
(another case, another encoding, a text that is cut in two) is not looked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.draw import Draws
from traps.load import Trap

_WIDTH = 8  # bytes of the window by which a text is looked up
_BITS = 20  # of the table that says whether a window may be one of ours
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # multiplicative hashing: 2^64 divided by the golden ratio

#: Characters from which on a scorer takes a fact's text for used where a change adds it.
TELLING = 8

Key = tuple[str, int]  # trap, seed
Kind = Literal["token", "escaped", "choice", "note"]


@dataclass(frozen=True)
class Needle:
    """One drawn value: whose it is, its name (of a note: `ref:<id>`), and its bytes.

    `escaped` is a token as JSON writes it, where that differs. A note's number is a whole word: `N-123456` is not in
    `N-1234567`.
    """

    key: Key
    name: str
    kind: Kind
    value: str


def drawn_values(traps: Mapping[str, Trap], draws: Draws) -> Iterator[Needle]:
    """Every drawn value of the traps that are there, but for choices that are too short to be told from other text."""
    for key, draw in draws.items():
        if key[0] not in traps:
            continue
        facts = traps[key[0]].spec.facts
        for name, value in draw.facts.items():
            if value and name in facts and facts[name].kind == "token":
                yield Needle(key, name, "token", value)
                written = {json.dumps(value, ensure_ascii=plain)[1:-1] for plain in (True, False)}
                yield from (Needle(key, name, "escaped", form) for form in sorted(written - {value}))
            elif name in facts and len(value) >= TELLING:
                yield Needle(key, name, "choice", value)
        yield from (Needle(key, f"ref:{name}", "note", number) for name, number in draw.refs.items() if number)


class Search:
    """Finds which of `needles` stand in bytes, by position in that list. Thread-safe after construction."""

    def __init__(self, needles: Iterable[Needle]) -> None:
        self.needles = tuple(needles)
        self._by_window: dict[bytes, list[tuple[int, bytes]]] = {}
        self._short: list[tuple[int, bytes]] = []
        for number, needle in enumerate(self.needles):
            form = needle.value.encode()
            if len(form) < _WIDTH:
                self._short.append((number, form))
            else:  # tokens begin alike and end at random
                self._by_window.setdefault(form[-_WIDTH:], []).append((number, form))
        self._table = np.zeros(1 << _BITS, dtype=bool)
        if self._by_window:
            self._table[_hashed(np.frombuffer(b"".join(self._by_window), dtype="<u8"))] = True

    def __call__(self, data: bytes) -> frozenset[int]:
        """Positions of the needles that stand in the data."""
        found = {n for n, form in self._short if any(self._fits(n, form, data, at) for at in _places(form, data))}
        if self._by_window:
            for phase in range(min(_WIDTH, max(len(data) - _WIDTH + 1, 0))):
                words = np.frombuffer(data, dtype="<u8", offset=phase, count=(len(data) - phase) // _WIDTH)
                for index in np.flatnonzero(self._table[_hashed(words)]):
                    self._look(data, phase + int(index) * _WIDTH, found)
        return frozenset(found)

    def _look(self, data: bytes, at: int, found: set[int]) -> None:
        for number, form in self._by_window.get(data[at : at + _WIDTH], ()):
            start = at + _WIDTH - len(form)
            here = number not in found and start >= 0 and data.startswith(form, start)
            if here and self._fits(number, form, data, start):
                found.add(number)

    def _fits(self, number: int, form: bytes, data: bytes, at: int) -> bool:
        """Whether a text that begins there is a whole word, if it has to be one."""
        if self.needles[number].kind != "note":
            return True
        before, after = data[max(at - 1, 0) : at], data[at + len(form) : at + len(form) + 1]
        return not before.isalnum() and not after.isdigit()


def _hashed(words: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return (words * _FACTOR) >> np.uint64(64 - _BITS)


def _places(form: bytes, data: bytes) -> Iterator[int]:
    at = data.find(form)
    while at >= 0:
        yield at
        at = data.find(form, at + 1)
