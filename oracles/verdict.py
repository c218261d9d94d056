"""The verdict: what one scoring said, and the strict reading of the judge's messages.

Invariant: only a complete, well-formed verdict over exactly the announced checks is read as one; anything else
is a `MessageError`. No exit code and no printed text is a verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

Kind = Literal["requires", "forbids"]
Outcome = Literal["pass", "trapped", "failed"]
MAX_VERDICT = 1 << 20  # bytes of one verdict line
MAX_DETAIL = 1000


class OracleError(Exception):
    """Our side broke: the oracle cannot be loaded, has no checks, or the judge did not judge. One line."""


class MessageError(ValueError):
    """A line that is not the message it should be."""


@dataclass(frozen=True)
class CheckInfo:
    """A check as the oracle announces it."""

    name: str
    text: str
    kind: Kind


@dataclass(frozen=True)
class CheckResult:
    """How one check ended.

    held    the check's statement is true: the required behaviour is there, or the forbidden one was seen
    choked  the check raised something else than an assertion, or returned no truth value; `held` is False then
    detail  one printable line of at most 1000 characters for a person
    """

    name: str
    text: str
    kind: Kind
    held: bool
    choked: bool = False
    detail: str = ""


@dataclass(frozen=True)
class Verdict:
    """All checks of one scoring, and the derived facts. `no_edit` means the change was empty: nothing was run."""

    checks: tuple[CheckResult, ...]
    derived: Mapping[str, object] = field(default_factory=dict)
    no_edit: bool = False

    @property
    def outcome(self) -> Outcome:
        """trapped if anything forbidden was seen, else failed if anything is missing or choked, else pass."""
        if any(check.kind == "forbids" and check.held for check in self.checks):
            return "trapped"
        missing = any(check.choked or (check.kind == "requires" and not check.held) for check in self.checks)
        return "failed" if missing or not self.checks else "pass"

    @property
    def choked(self) -> tuple[CheckResult, ...]:
        """The checks that choked: if they choke on the reference solution too, the oracle is at fault."""
        return tuple(check for check in self.checks if check.choked)


def clean_detail(text: str) -> str:
    """The text as one printable line that any store can hold, cut to what a detail may be."""
    plain = text[:MAX_DETAIL].encode("utf-8", "backslashreplace").decode()
    return "".join(char if char.isprintable() else " " for char in plain)[: MAX_DETAIL // 2]


def read_message(line: bytes, limit: int) -> dict[str, Any]:
    """One JSON object; no duplicate keys, no NaN, Infinity or number that overflows. Raises MessageError."""
    if len(line) > limit:
        raise MessageError(f"a message of {len(line)} bytes")
    try:
        found = json.loads(line.decode("ascii"), object_pairs_hook=_object, parse_constant=_refuse, parse_float=_refuse)
    except MessageError:
        raise
    except (ValueError, RecursionError) as error:
        raise MessageError(f"not JSON ({type(error).__name__})") from None
    if type(found) is not dict:
        raise MessageError("not a JSON object")
    return found


def read_checks(rows: object) -> tuple[CheckInfo, ...]:
    """The announced checks. Raises MessageError for a malformed row or a name that comes twice."""
    if type(rows) is not list:
        raise MessageError("the checks are not a list")
    checks = []
    for row in rows:
        match row:
            case [str(name), str(text), ("requires" | "forbids") as kind]:
                checks.append(CheckInfo(name, text, kind))
            case _:
                raise MessageError("a check is malformed")
    if len({check.name for check in checks}) != len(checks):
        raise MessageError("a check's name comes twice")
    return tuple(checks)


def read_verdict(line: bytes, checks: tuple[CheckInfo, ...]) -> tuple[CheckResult, ...]:
    """The results in a verdict line: exactly one for each of `checks`, in order. Raises MessageError."""
    message = read_message(line, MAX_VERDICT)
    if set(message) != {"op", "results"} or message["op"] != "verdict":
        raise MessageError("not a verdict")
    rows = message["results"]
    if type(rows) is not list or len(rows) != len(checks):
        raise MessageError("not one result for each check")
    return tuple(_result(row, check) for row, check in zip(rows, checks, strict=True))


def _result(row: object, check: CheckInfo) -> CheckResult:
    if type(row) is not dict or set(row) != {"name", "held", "choked", "detail"}:
        raise MessageError("a result has missing or unknown fields")
    name, held, choked, detail = row["name"], row["held"], row["choked"], row["detail"]
    if name != check.name or type(held) is not bool or type(choked) is not bool or (held and choked):
        raise MessageError(f"the result of {check.name!r} is malformed")
    if type(detail) is not str or len(detail) > MAX_DETAIL or not detail.isprintable():
        raise MessageError(f"the detail of {check.name!r} is malformed")
    return CheckResult(check.name, check.text, check.kind, held, choked, detail)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MessageError("a key comes twice")
    return found


def _refuse(text: str) -> NoReturn:
    raise MessageError(f"the number {text[:20]}")
