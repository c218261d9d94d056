"""Inverted indices over what memories share: words, file scopes, symbol scopes.

Invariant: an index answers exactly what comparing with every entry would, only faster.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from memory_probe import text

Array = npt.NDArray[Any]
T = TypeVar("T", bound=Hashable)


class Shared(Generic[T]):
    """Distinct values with their numbers from 0."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def fork(self) -> Self:
        """The same values, growing apart."""
        fork = type(self)()
        fork.values, fork._numbers = self.values.copy(), self._numbers.copy()
        return fork

    def add(self, value: T) -> int:
        """The number of a value, known or new."""
        known = self._numbers.get(value)
        if known is None:
            known = self._numbers[value] = len(self.values)
            self.values.append(value)
            self._enter(known, value)
        return known

    def _enter(self, number: int, value: T) -> None:
        """Subclasses index a new value here."""

    def empty(self) -> Array:
        """A mask of the entries that say nothing."""
        return np.fromiter((not v for v in self.values), bool, len(self.values))


class WordSets:
    """Sets of words; equal sets share an entry unless `shared` is false."""

    def __init__(self, shared: bool = True) -> None:
        self._shared: dict[frozenset[str], int] | None = {} if shared else None
        self._before: Mapping[str, array[int]] = {}  # holders of a word up to the last fork; shared, never changed
        self._since: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        self._sizes = array("i")

    def fork(self) -> WordSets:
        """The same sets, growing apart."""
        fork = WordSets()
        fork._shared = None if self._shared is None else self._shared.copy()
        fork._before = {**self._before, **{word: self._holders(word) for word in self._since}}
        fork._sizes = self._sizes[:]
        return fork

    def add(self, words: frozenset[str]) -> int:
        """The number of a set, known or new."""
        if self._shared is not None and words in self._shared:
            return self._shared[words]
        number = len(self._sizes)
        self._sizes.append(len(words))
        for word in words:
            self._since[word].append(number)
        if self._shared is not None:
            self._shared[words] = number
        return number

    def sizes(self) -> Array:
        """How many words each entry has."""
        return np.array(self._sizes, np.int64)

    def common(self, wanted: frozenset[str]) -> Array:
        """How many of the wanted words each entry has."""
        parts = (part[w] for part in (self._before, self._since) for w in wanted if w in part)
        held = [np.array(numbers) for numbers in parts]
        if not held:
            return np.zeros(len(self._sizes), np.int64)
        return np.bincount(np.concatenate(held), minlength=len(self._sizes))

    def holding(self, wanted: frozenset[str]) -> list[int]:
        """Entries that have all the wanted words, in order; none for no words."""
        if not wanted:
            return []
        first, *others = sorted((self._holders(w) for w in wanted), key=len)
        left = set(first).intersection(*others) if others else set(first)
        return sorted(left)

    def _holders(self, word: str) -> array[int]:
        """Entries that have a word, in order."""
        before = self._before.get(word, array("i"))
        return before + self._since[word] if word in self._since else before


class FileScopes(Shared[tuple[str, ...]]):
    """Tuples of paths, folders and wild cards."""

    def __init__(self) -> None:
        super().__init__()
        self._plain: defaultdict[str, list[int]] = defaultdict(list)
        self._patterns: defaultdict[str, list[int]] = defaultdict(list)

    def fork(self) -> FileScopes:
        fork = super().fork()
        fork._plain.update((path, numbers.copy()) for path, numbers in self._plain.items())
        fork._patterns.update((path, numbers.copy()) for path, numbers in self._patterns.items())
        return fork

    def _enter(self, number: int, value: tuple[str, ...]) -> None:
        for path in dict.fromkeys(value):
            (self._patterns if text.is_pattern(path) else self._plain)[path].append(number)

    def common(self, wanted: Iterable[str]) -> Array:
        """How many of the wanted paths each entry covers, or is covered by."""
        counts = np.zeros(len(self.values), np.int64)
        for path in wanted:
            hit = set(self._plain.get(path, ()))
            for pattern, numbers in self._patterns.items():
                if text.same_file(pattern, path):
                    hit.update(numbers)
            if text.is_pattern(path):
                hit.update(n for plain, ns in self._plain.items() if text.covers(path, plain) for n in ns)
            counts[list(hit)] += 1
        return counts


class SymbolScopes(Shared[tuple[str, ...]]):
    """Tuples of dotted names."""

    def __init__(self) -> None:
        super().__init__()
        self._names: defaultdict[str, list[int]] = defaultdict(list)
        self._within: defaultdict[str, list[int]] = defaultdict(list)

    def fork(self) -> SymbolScopes:
        fork = super().fork()
        fork._names.update((name, numbers.copy()) for name, numbers in self._names.items())
        fork._within.update((name, numbers.copy()) for name, numbers in self._within.items())
        return fork

    def _enter(self, number: int, value: tuple[str, ...]) -> None:
        for name in dict.fromkeys(value):
            self._names[name].append(number)
            for outer in text.enclosing(name):
                self._within[outer].append(number)

    def common(self, wanted: Iterable[str]) -> Array:
        """How many of the wanted names each entry has, encloses, or is inside of."""
        counts = np.zeros(len(self.values), np.int64)
        for name in wanted:
            hit = {*self._names.get(name, ()), *self._within.get(name, ())}
            hit.update(n for outer in text.enclosing(name) for n in self._names.get(outer, ()))
            counts[list(hit)] += 1
        return counts
