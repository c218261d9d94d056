"""What an oracle file may say: `requires`, `forbids` and `derives`, and the types its checks meet.

A decorator only marks its function; `collect` reads the marks of one loaded module. Invariant: nothing is
registered globally, so two oracles in one process never see each other's checks.
"""

from __future__ import annotations

import random
from ast import Module
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from oracles.wire import Opaque, Raised, Record, same

__all__ = [
    "Change",
    "Check",
    "Facts",
    "HandleApi",
    "Opaque",
    "OracleFormError",
    "Raised",
    "Record",
    "Rules",
    "Run",
    "SubjectApi",
    "SubjectTrouble",
    "collect",
    "derives",
    "forbids",
    "requires",
    "same",
]

Kind = Literal["requires", "forbids"]
When = Literal["use", "abstain"]
Status = Literal["added", "modified", "deleted"]
Function = TypeVar("Function", bound=Callable[..., object])

_CHECK = "__check_mark__"
_DERIVES = "__derives_mark__"


class OracleFormError(Exception):
    """The oracle file does not keep the contract (no checks, a name twice, a wrong `when`)."""


class SubjectTrouble(AssertionError):
    """The agent's side died, hung, flooded or answered garbage where no value can stand for that.

    An assertion: a requirement that meets it is missing, it is never an error of the oracle.
    """


@dataclass(frozen=True)
class Change:
    """One changed production file. `old` is None for an added, `new` is None for a deleted file."""

    status: Status
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True)
class Run:
    """A finished command: `exit` 0..255, or None when a signal ended it; output bytes, never cut."""

    exit: int | None
    stdout: bytes
    stderr: bytes


class Facts(Mapping[str, Any]):
    """The facts of one arm: `facts.name` or `facts["name"]`. Immutable; a missing name is an error."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, object]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no fact {name!r}") from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("facts cannot be changed")

    def __getitem__(self, name: str) -> Any:
        return object.__getattribute__(self, "_values")[name]

    def __iter__(self) -> Iterator[str]:
        return iter(object.__getattribute__(self, "_values"))

    def __len__(self) -> int:
        return len(object.__getattribute__(self, "_values"))


class HandleApi(Protocol):
    """An object that lives beside the agent's code."""

    def method(self, name: str, /, *args: object, **kwargs: object) -> Any: ...

    def attr(self, name: str) -> Any: ...


class SubjectApi(Protocol):
    """What a check may do with the agent's code; see `oracles.subject.Subject` for the meaning of each."""

    random: random.Random
    delta: Mapping[str, Change]

    def call(self, target: str, /, *args: object, **kwargs: object) -> Any: ...

    def value(self, target: str) -> Any: ...

    def new(self, target: str, /, *args: object, **kwargs: object) -> HandleApi: ...

    def run(self, command: list[str], stdin: bytes = b"") -> Run: ...

    def read(self, path: str) -> bytes | None: ...

    def files(self, pattern: str = "**") -> list[str]: ...

    def added_lines(self) -> list[str]: ...

    def mentions(self, text: str) -> bool: ...

    def ast(self, path: str) -> Module: ...

    def regenerate(self) -> dict[str, bytes]: ...

    def restart(self) -> None: ...


@dataclass(frozen=True)
class Check:
    """One marked function. `when` None binds it to every history."""

    name: str
    text: str
    kind: Kind
    when: When | None
    function: Callable[..., object]


@dataclass(frozen=True)
class Rules:
    """What `collect` found: the checks and the derivations (fact name, function), in file order."""

    checks: tuple[Check, ...]
    derivations: tuple[tuple[str, Callable[..., object]], ...]

    def applicable(self, expect: str) -> tuple[Check, ...]:
        """The checks that count in a history with this expectation ("use" or "abstain")."""
        return tuple(check for check in self.checks if check.when in (None, expect))

    def complete(self, facts: Mapping[str, object]) -> tuple[Facts, dict[str, object]]:
        """The facts with the derived ones added, and the derived ones alone."""
        derived: dict[str, object] = {}
        for name, function in self.derivations:
            derived[name] = function(Facts({**facts, **derived}))
        return Facts({**facts, **derived}), derived


def requires(text: str, when: When | None = None) -> Callable[[Function], Function]:
    """Mark a check `(subject, facts)` that must hold: an assertion that fails, or False, means missing."""
    return _marker("requires", text, when)


def forbids(text: str, when: When | None = None) -> Callable[[Function], Function]:
    """Mark a check `(subject, facts)` that returns True when the forbidden behaviour was seen, else False."""
    return _marker("forbids", text, when)


def derives(name: str) -> Callable[[Function], Function]:
    """Mark a function `(facts)` that computes the fact `name`; it sees the facts derived above it, too."""

    def mark(function: Function) -> Function:
        setattr(function, _DERIVES, name)
        return function

    return mark


def _marker(kind: Kind, text: str, when: When | None) -> Callable[[Function], Function]:
    if when not in (None, "use", "abstain"):
        raise OracleFormError(f"when must be 'use' or 'abstain', not {when!r}")
    if not isinstance(text, str) or not text.strip():
        raise OracleFormError("a check needs a text in plain words")

    def mark(function: Function) -> Function:
        setattr(function, _CHECK, (kind, text, when))
        return function

    return mark


def collect(namespace: Mapping[str, object]) -> Rules:
    """The marked functions of a module's namespace, in file order. Raises OracleFormError."""
    checks: list[Check] = []
    derivations: list[tuple[str, Callable[..., object]]] = []
    for name, value in namespace.items():
        if not callable(value):
            continue
        mark = getattr(value, _CHECK, None)
        if mark is not None:
            checks.append(Check(name, mark[1], mark[0], mark[2], value))
        derived = getattr(value, _DERIVES, None)
        if derived is not None:
            derivations.append((derived, value))
    if len({name for name, _ in derivations}) != len(derivations):
        raise OracleFormError("two functions derive the same fact")
    if len({check.text for check in checks}) != len(checks):
        raise OracleFormError("two checks have the same text (or one function has two names)")
    return Rules(tuple(checks), tuple(derivations))
