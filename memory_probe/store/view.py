"""A store in memory: what the operators of sleep and the read path look at.

Invariant: it is rebuilt from the file or changed by the same entries that the file gets, so both always say the same;
operators only look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from memory_probe import judge, text
from memory_probe.store.columns import Columns
from memory_probe.store.model import Link, Memory, Standing, Status


class StoreView:
    """Memories by id (from 1), their standings and links, and the indices that keep maintenance off the whole store."""

    def __init__(self) -> None:
        self.columns = Columns()
        self._memories: list[Memory] = []
        self._standings: list[Standing] = []
        self._own: list[str] = []
        self.links: set[Link] = set()
        self.superseders: dict[int, set[int]] = defaultdict(set)
        self.rivals: dict[int, set[int]] = defaultdict(set)
        self._numbered: dict[str, list[int]] = defaultdict(list)
        self._authored: dict[str, list[int]] = defaultdict(list)
        self._scoped: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._expiring: set[int] = set()

    def fork(self) -> StoreView:
        """A view that says the same and grows apart from this one; what never changes is shared."""
        fork = StoreView()
        fork.columns = self.columns.fork()
        fork._memories, fork._standings, fork._own = self._memories.copy(), self._standings.copy(), self._own.copy()
        fork.links = self.links.copy()
        fork._expiring = self._expiring.copy()
        fork.superseders.update((n, found.copy()) for n, found in self.superseders.items())
        fork.rivals.update((n, found.copy()) for n, found in self.rivals.items())
        fork._numbered.update((n, found.copy()) for n, found in self._numbered.items())
        fork._authored.update((n, found.copy()) for n, found in self._authored.items())
        fork._scoped.update((n, found.copy()) for n, found in self._scoped.items())
        return fork

    def __len__(self) -> int:
        return len(self._memories)

    def memory(self, number: int) -> Memory:
        return self._memories[number - 1]

    def standing(self, number: int) -> Standing:
        return self._standings[number - 1]

    def status(self, number: int) -> Status:
        return self._standings[number - 1].status

    def ids(self) -> range:
        return range(1, len(self._memories) + 1)

    def born_since(self, seq: int) -> list[int]:
        """Memories whose evidence came with episode `seq` or later, oldest first."""
        number = len(self._memories)
        while number and self._memories[number - 1].episode >= seq:
            number -= 1
        return list(range(number + 1, len(self._memories) + 1))

    # -- what sleep asks -------------------------------------------------------------------------------------

    def numbered(self, number: str) -> list[int]:
        """Memories whose own note number this is."""
        return self._numbered.get(number, [])

    def own_number(self, number: int) -> str:
        """The note number that a memory bears itself, or ""."""
        return self._own[number - 1]

    def authors(self) -> Iterable[str]:
        """All authors, lower case."""
        return self._authored.keys()

    def authored(self, author: str) -> list[int]:
        """Memories told by an author, oldest first."""
        return self._authored.get(author.lower(), [])

    def expiring(self) -> Iterator[int]:
        """Active memories with a last day."""
        return (n for n in sorted(self._expiring) if self.status(n) == "active")

    def with_words(self, wanted: frozenset[str]) -> list[int]:
        """Memories that have all the wanted words; none for no words."""
        return [row + 1 for row in self.columns.words.holding(wanted)]

    def near(self, repository: str, files: tuple[str, ...]) -> Iterator[int]:
        """Memories of the repository whose file scope meets `files`, or that state no files; all for no files."""
        scopes = self.columns.files
        mask = scopes.common(files) > 0 if files else np.ones(len(scopes.values), bool)
        for place in (mask | scopes.empty()).nonzero()[0]:
            members = self._scoped[scopes.values[int(place)]]
            yield from (n for n in members if self.memory(n).repository == repository)

    def outdone(self, number: int) -> bool:
        """Is there an active superseder, direct or through others that were superseded themselves?"""
        return any(self.status(source) == "active" for source in self.line(number))

    def line(self, number: int) -> Iterator[int]:
        """Its superseders, direct ones first, then those that superseded them."""
        seen: set[int] = set()
        waiting = list(self.superseders.get(number, ()))
        while waiting:
            source = waiting.pop()
            if source not in seen:
                seen.add(source)
                yield source
                waiting.extend(self.superseders.get(source, ()))

    def disputed(self, number: int) -> bool:
        """Does it contradict a memory that is active or waits for review?"""
        return any(self.status(n) in ("active", "requires_review") for n in self.rivals.get(number, ()))

    # -- growing, together with the file ---------------------------------------------------------------------

    def add(self, memory: Memory, standing: Standing) -> int:
        """Take in the next memory; returns its id."""
        self._memories.append(memory)
        self._standings.append(standing)
        number = len(self._memories)
        self.columns.append(memory, standing, tags_of(memory))
        own = judge.own_number(memory.content)
        self._own.append(own)
        if own:
            self._numbered[own].append(number)
        if memory.author:
            self._authored[memory.author.lower()].append(number)
        self._scoped[memory.scope.files].append(number)
        if standing.valid_until:
            self._expiring.add(number)
        return number

    def put(self, number: int, standing: Standing) -> None:
        """Replace a standing."""
        self._standings[number - 1] = standing
        self.columns.set(number - 1, standing)
        if standing.valid_until:
            self._expiring.add(number)

    def join(self, link: Link) -> None:
        """Take in a link; it shows on both sides."""
        self.links.add(link)
        if link.kind == "supersedes":
            self.superseders[link.target].add(link.source)
        else:
            self.rivals[link.source].add(link.target)
            self.rivals[link.target].add(link.source)


def tags_of(memory: Memory) -> frozenset[str]:
    """Tags as words: its own, and the names of the files that its scope or its text mention."""
    return text.words(" ".join(memory.tags)) | text.stems((*memory.scope.files, *text.paths(memory.content)))
