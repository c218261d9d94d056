"""What can go wrong with a model endpoint, on demand.

Invariant: a fault happens to the requests that its condition names and to no other; the request itself has been read
and logged before. Faults of what is said change the answer, faults of the wire how its bytes are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from .log import Entry

When: TypeAlias = Callable[[Entry], bool]


@dataclass(frozen=True)
class Status:
    """An error status in the dialect's form, with `retry-after` in seconds if given."""

    code: int
    retry_after: int | None = None


@dataclass(frozen=True)
class Cut:
    """The connection ends after so many bytes of the body; for 0 after the headers."""

    after: int


@dataclass(frozen=True)
class Slow:
    """The body comes `size` bytes at a time with `seconds` between."""

    size: int = 16
    seconds: float = 0.05


@dataclass(frozen=True)
class BadJson:
    """The JSON ends in the middle: that of the body, or that of the second event of a stream."""


@dataclass(frozen=True)
class Empty:
    """Status 200 and no byte of a body."""


@dataclass(frozen=True)
class WrongType:
    """Status 200 and a page as some proxies put it in the place of an answer."""

    kind: str = "text/html; charset=utf-8"
    body: bytes = b"<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>\n"


@dataclass(frozen=True)
class Reset:
    """The connection is reset before the status line."""


@dataclass(frozen=True)
class UnknownTool:
    """A call of a tool that was not offered."""

    name: str = "no_such_tool"


@dataclass(frozen=True)
class BrokenArguments:
    """A call whose arguments end in the middle."""


@dataclass(frozen=True)
class Loop:
    """A harmless command in the place of the turn, for as long as the condition holds."""

    command: str = "true"


@dataclass(frozen=True)
class Huge:
    """A text of so many bytes, in words of seven letters."""

    size: int = 10_000_000


Said: TypeAlias = UnknownTool | BrokenArguments | Loop | Huge
Wire: TypeAlias = Status | Cut | Slow | BadJson | Empty | WrongType | Reset


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and when. Of several whose condition holds the first one happens."""

    kind: Said | Wire
    when: When


def at(*numbers: int) -> When:
    """The n-th requests to a model, counted from 1 over the life of the server."""
    return lambda entry: entry.asked in numbers


def until(number: int) -> When:
    """All up to the n-th."""
    return lambda entry: entry.asked is not None and entry.asked <= number


def always(entry: Entry) -> bool:
    """Every request."""
    return True


def holding(text: str) -> When:
    """Those that hold a text."""
    return lambda entry: entry.holds(text)


def huge_text(size: int) -> str:
    """Words of seven letters, `size` bytes in all."""
    return ("lengthy " * (size // 8 + 1))[:size]


def half_json(body: Iterable[bytes], stream: bool) -> Iterator[bytes]:
    """The body with its JSON ended in the middle (in a stream that of the second event)."""
    for number, part in enumerate(body):
        if stream and number != 1:
            yield part
        elif stream:
            yield part.rstrip()[: len(part) // 2 + len(part) // 4] + b"\n\n"
        else:
            yield part[: len(part) // 2]


def first_bytes(body: Iterable[bytes], count: int) -> Iterator[bytes]:
    """At most so many bytes."""
    for part in body:
        if count <= 0:
            return
        yield part[:count]
        count -= len(part)


def small_parts(body: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes, `size` at a time within each part."""
    return chain.from_iterable((part[at : at + size] for at in range(0, len(part), size)) for part in body)
