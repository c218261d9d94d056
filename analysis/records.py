"""The record types that every number starts from, and the checks on rows that come from outside.

Invariant: a row that passed here is complete (every field has its type, the outcome is in the vocabulary) and
unique, so no later function has to guess, and an error names the row that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Literal, TypeVar, get_args

Outcome = Literal["pass", "trapped", "failed", "invalid", "unavailable"]
Endpoint = Literal["matched", "main"]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
COUNTED: tuple[Outcome, ...] = ("pass", "trapped", "failed")  # the denominator of Pass@1
ENDPOINTS: tuple[Endpoint, ...] = get_args(Endpoint)

_TYPES: dict[str, type] = {"str": str, "int": int, "bool": bool, "Outcome": str}


class RecordError(ValueError):
    """A row that cannot be used. `row` is its 0-based place among the rows given, or None for the whole list."""

    def __init__(self, row: int | None, message: str) -> None:
        super().__init__(message if row is None else f"row {row}: {message}")
        self.row = row


@dataclass(frozen=True)
class ArmRow:
    """How one arm (trap x condition x seed x history) ended for one reader level.

    `reader` is "" where the agent has no reader levels; `main` marks the history of the published fold; `cause`
    is "" or the plain-word cause of the outcome.
    """

    trap: str
    construct: str
    condition: str
    seed: int
    history: str
    main: bool
    reader: str
    outcome: Outcome
    cause: str = ""


@dataclass(frozen=True)
class CellRecord:
    """The outcome of one cell (trap x condition x seed) at one endpoint and reader level."""

    trap: str
    construct: str
    condition: str
    seed: int
    outcome: Outcome
    reader: str = ""
    cause: str = ""


Row = TypeVar("Row", ArmRow, CellRecord)


def arm_rows(raw: Iterable[Mapping[str, object]]) -> tuple[ArmRow, ...]:
    """Arm rows from plain mappings. Raises RecordError: a key too many or too few, a wrong type, a duplicate."""
    return check_arms([_build(ArmRow, number, row) for number, row in enumerate(raw)])


def cell_records(raw: Iterable[Mapping[str, object]]) -> tuple[CellRecord, ...]:
    """Cell records from plain mappings; errors as `arm_rows`."""
    return check_cells([_build(CellRecord, number, row) for number, row in enumerate(raw)])


def check_arms(rows: Sequence[ArmRow]) -> tuple[ArmRow, ...]:
    """The rows, checked one by one and for duplicates and contradicting constructs. Raises RecordError."""
    _check(rows, lambda r: (r.trap, r.condition, r.seed, r.history, r.reader))
    return tuple(rows)


def check_cells(rows: Sequence[CellRecord]) -> tuple[CellRecord, ...]:
    """The rows, checked one by one and for duplicates and contradicting constructs. Raises RecordError."""
    _check(rows, lambda r: (r.trap, r.condition, r.seed, r.reader))
    return tuple(rows)


def _check(rows: Sequence[Row], key: Callable[[Row], tuple[object, ...]]) -> None:
    seen: dict[tuple[object, ...], int] = {}
    constructs: dict[str, tuple[str, int]] = {}
    for number, row in enumerate(rows):
        _check_values(number, row)
        if (first := seen.setdefault(key(row), number)) != number:
            raise RecordError(number, f"the same as row {first}: {key(row)}")
        construct, first = constructs.setdefault(row.trap, (row.construct, number))
        if construct != row.construct:
            raise RecordError(number, f"trap {row.trap!r} is {row.construct} here and {construct} in row {first}")


def _build(kind: type[Row], number: int, raw: Mapping[str, object]) -> Row:
    known = {f.name: f for f in fields(kind)}
    if unknown := sorted(set(raw) - set(known)):
        raise RecordError(number, f"unknown keys {unknown}")
    if needed := {name for name, f in known.items() if f.default is MISSING} - set(raw):
        raise RecordError(number, f"missing {', '.join(sorted(needed))}")
    row = kind(**raw)  # type: ignore[arg-type]
    _check_values(number, row)
    return row


def _check_values(number: int, row: ArmRow | CellRecord) -> None:
    for field in fields(row):
        value = getattr(row, field.name)
        wanted = _TYPES[str(field.type)]
        if type(value) is not wanted and not (wanted is str and isinstance(value, str)):
            raise RecordError(number, f"{field.name} is {value!r}, expected {wanted.__name__}")
    for name in ("trap", "construct", "condition"):
        if not getattr(row, name).strip():
            raise RecordError(number, f"{name} is missing")
    if row.outcome not in OUTCOMES:
        raise RecordError(number, f"unknown outcome {row.outcome!r} (known: {', '.join(OUTCOMES)})")
