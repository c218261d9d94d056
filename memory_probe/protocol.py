"""The memory protocol: what a memory is told, what it is asked, and what it hands back.

A memory sees finished sessions (`Episode`) and is asked before a session (`Query`) for a `View`. Invariant: no
type here has a place for a trap, a construct, a role, a history or a condition, so a memory cannot be told them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

State = Literal["active", "superseded", "retracted", "expired", "unknown"]


class MemoryFault(Exception):
    """A memory that cannot work (missing package, server down, store corrupt); never an empty view instead."""


@dataclass(frozen=True)
class Scope:
    """Where something applies; empty fields mean nothing was said."""

    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    task: str = ""


@dataclass(frozen=True)
class Note:
    """One event of a finished session, as the world saw it."""

    text: str
    kind: str
    author: str
    authority: int
    date: dt.date
    until: dt.date | None
    scope: Scope


@dataclass(frozen=True)
class Episode:
    """A finished session. `prompt` never contains the memory view; `delta` is a textual diff; `check` is the
    public check's (passed, output)."""

    number: int
    repository: str
    task: str
    date: dt.date
    prompt: str
    steps: str
    delta: str
    check_passed: bool
    check_output: str
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Receipt:
    """What became of one write: ok, rejected (why) or deferred; `text` is what was to be written."""

    status: Literal["ok", "rejected", "deferred"]
    text: str
    why: str = ""


@dataclass(frozen=True)
class Query:
    """What is known before a session."""

    prompt: str
    paths: tuple[str, ...]
    symbols: tuple[str, ...]
    repository: str
    task: str
    now: dt.date


@dataclass(frozen=True)
class Budget:
    """At most `k` items (None = no bound) and `tokens` white-space separated words in all."""

    k: int | None = 6
    tokens: int = 1200


@dataclass(frozen=True)
class ViewItem:
    """One item of a view; a field that the memory does not expose is None (or an empty scope)."""

    text: str
    date: dt.date | None = None
    type: str | None = None
    scope: Scope = Scope()
    state: State | None = None
    successor: int | None = None  # 1-based rank of the item that replaces it
    provenance: str | None = None


@dataclass(frozen=True)
class Rejected:
    """A candidate that was left out of a view, and why."""

    text: str
    why: str


@dataclass(frozen=True)
class View:
    """The items in order, and what was considered and left out. `considered` counts all candidates."""

    items: tuple[ViewItem, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    considered: int = 0


@dataclass(frozen=True)
class StoredRecord:
    """One record as the store holds it. `replaced_by`: texts of the records that replace it, directly or through
    others that were replaced themselves; None where the store keeps no such links."""

    text: str
    state: State = "unknown"
    replaced_by: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Unlisted:
    """Returned instead of records by a store that cannot be listed."""

    why: str


@dataclass(frozen=True)
class SleepReport:
    """What offline maintenance did; `changes` counts by operator name.

    `model_calls` and `model_tokens` are what the memory asked a model, in maintenance and when recording, since its
    last report; tokens are None when they are not known.
    """

    changes: Mapping[str, int] = field(default_factory=dict)
    model_calls: int = 0
    model_tokens: int | None = 0


@dataclass(frozen=True)
class Card:
    """What a condition is: printed by `dreambench conditions` and hashed into the plan."""

    code: str
    title: str
    version: str
    capabilities: tuple[str, ...] = ()
    needs_model: bool = False
    instrument: bool = False  # filled by the harness; not a memory anybody could ship
    repaired: bool = False  # keeps evidence that its published version cut away before it could be read


class Memory(Protocol):
    """A memory of one arm: a private namespace that starts empty."""

    card: Card

    def record(self, episode: Episode) -> list[Receipt]:
        """Take in a finished session."""

    def settle(self, timeout: float) -> None:
        """Return when what was recorded can be read; raise MemoryFault if it cannot within `timeout` seconds."""

    def sleep(self, now: dt.date) -> SleepReport:
        """Offline maintenance; may do nothing."""

    def read(self, query: Query, budget: Budget) -> View:
        """What to know before a session."""

    def records(self, include_inactive: bool) -> Iterator[StoredRecord] | Unlisted:
        """Everything the store holds, to the last page."""

    def freeze(self) -> Mapping[str, bytes]:
        """The store as files (relative path -> bytes), complete enough to open it again."""

    def close(self) -> None:
        """Free what is held."""


def count_tokens(text: str) -> int:
    """The budget's token: a white-space separated word."""
    return len(text.split())


def pack(items: list[ViewItem], budget: Budget) -> tuple[tuple[ViewItem, ...], tuple[Rejected, ...]]:
    """Take items in order while they fit; one that overflows is skipped and the next tried; stop at k."""
    taken: list[ViewItem] = []
    left: list[Rejected] = []
    used = 0
    for item in items:
        size = count_tokens(item.text)
        if budget.k is not None and len(taken) >= budget.k:
            left.append(Rejected(item.text, f"out-ranked: the view holds {budget.k} items"))
        elif used + size > budget.tokens:
            left.append(Rejected(item.text, f"over budget: {used} + {size} > {budget.tokens} tokens"))
        else:
            taken.append(item)
            used += size
    return tuple(taken), tuple(left)
