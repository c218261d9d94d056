"""Outcomes from anywhere as plain rows: `outcomes.json` or `outcomes.csv`, checked and made into cells.

A row is `trap, condition, seed, outcome` and optionally `construct, family, fixture, evidence, clean_start, removed,
reader, cause, carried_by_tree` and `endpoint` ("main", the default, or "matched"). With `history`, rows are arms: those
with endpoint "main" are the published history, and both endpoints are built from them. Invariant: nothing is dropped or
guessed; a row that cannot be used stops everything, and the error names it (0-based; the header of a CSV is no row).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from analysis.rates import cells as cells_of
from analysis.records import ENDPOINTS, OUTCOMES, ArmRow, CellRecord, Endpoint, Outcome, RecordError

SCHEMA = 1
UNLABELLED = "-"  # the construct of a trap that names none
_NEEDED = ("trap", "condition", "seed", "outcome")
_TEXTS = ("trap", "condition", "outcome", "construct", "family", "fixture", "evidence", "history", "endpoint", "reader")
_FLAGS = ("clean_start", "removed", "carried_by_tree")
_LABELS = ("construct", "family", "fixture", "evidence", "clean_start", "removed")
_KNOWN = (*_TEXTS, "cause", "seed", *_FLAGS)

Raw = Mapping[str, Any]


@dataclass(frozen=True)
class TrapInfo:
    """What slices go by. None or "" where it was not told. `removed`: taken out of the fold after the run began."""

    construct: str = UNLABELLED
    family: str = ""
    fixture: str = ""
    evidence: str = ""
    clean_start: bool | None = None
    removed: bool = False


@dataclass(frozen=True)
class Outcomes:
    """Cells by endpoint (those that the rows tell), the traps, and the cells whose start tree carried a fact."""

    cells: Mapping[Endpoint, tuple[CellRecord, ...]]
    traps: Mapping[str, TrapInfo]
    carried: frozenset[tuple[str, str, int]] = field(default=frozenset())  # trap, condition, seed


def from_json(text: str) -> tuple[Outcomes, Mapping[str, Any]]:
    """Outcomes from a JSON list of rows, or of an object with `rows`; the object's other keys come back beside them.

    Raises RecordError.
    """
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise RecordError(None, f"no JSON: {error}") from error
    rest: dict[str, Any] = {}
    if isinstance(data, dict):
        if (version := data.get("schema", SCHEMA)) != SCHEMA:
            raise RecordError(None, f"schema {repr(version)[:20]} is not known here (expected {SCHEMA})")
        rest = {key: value for key, value in data.items() if key not in ("rows", "schema")}
        data = data.get("rows")
    if not isinstance(data, list):
        raise RecordError(None, "expected a list of rows, or an object with the list `rows`")
    return from_rows(data), rest


def from_csv(text: str) -> Outcomes:
    """Outcomes from CSV with a header; an empty cell is a value that is not given. Raises RecordError."""
    reader = csv.reader(io.StringIO(text))
    header = next(reader, [])
    if len(set(header)) < len(header):
        raise RecordError(None, "a column name occurs twice")
    rows: list[Raw] = []
    for number, values in enumerate(line for line in reader if line):
        if len(values) != len(header):
            raise RecordError(number, f"{len(values)} values under {len(header)} columns")
        given = {name: value for name, value in zip(header, values, strict=True) if value != ""}
        rows.append({name: _typed(number, name, value) for name, value in given.items()})
    return from_rows(rows)


def from_rows(raw: Sequence[Any]) -> Outcomes:
    """Outcomes from plain mappings. Raises RecordError naming the row."""
    if not raw:
        raise RecordError(None, "no rows")
    rows = [_checked(number, row) for number, row in enumerate(raw)]
    arms = any("history" in row for row in rows)
    for number, row in enumerate(rows):
        if arms and "history" not in row:
            raise RecordError(number, "history is missing, and other rows have one")
    _refuse_doubles(rows)
    traps = _traps(rows)
    _refuse_gaps(rows)
    if len(traps) < 2:
        raise RecordError(0, f"the only trap is {rows[0]['trap']!r}; the unit is the trap, so at least two are needed")
    carried = frozenset((r["trap"], r["condition"], r["seed"]) for r in rows if r.get("carried_by_tree"))
    return Outcomes(_arm_cells(rows, traps) if arms else _plain_cells(rows, traps), traps, carried)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise RecordError(None, f"key {key!r} occurs twice in one object")
        found[key] = value
    return found


def _typed(number: int, name: str, value: str) -> object:
    if name == "seed":
        if not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise RecordError(number, f"seed is {value!r}, expected a whole number")
        return int(value)
    if name in _FLAGS:
        if value not in ("true", "false"):
            raise RecordError(number, f"{name} is {value!r}, expected true or false")
        return value == "true"
    return value


def _checked(number: int, row: object) -> Raw:
    if not isinstance(row, Mapping):
        raise RecordError(number, f"expected an object, got {row!r}")
    if unknown := sorted(str(key) for key in row if key not in _KNOWN):
        raise RecordError(number, f"unknown keys {unknown}")
    given = {key: value for key, value in row.items() if value is not None}
    if needed := [name for name in _NEEDED if name not in given]:
        raise RecordError(number, f"missing {', '.join(needed)}")
    for name, value in given.items():
        wanted = int if name == "seed" else bool if name in _FLAGS else str
        if type(value) is not wanted:
            raise RecordError(number, f"{name} is {value!r}, expected {wanted.__name__}")
        if name in _TEXTS and name != "reader" and not str(value).strip():
            raise RecordError(number, f"{name} is missing")
    if given["outcome"] not in OUTCOMES:
        raise RecordError(number, f"unknown outcome {given['outcome']!r} (known: {', '.join(OUTCOMES)})")
    if given.get("endpoint", "main") not in ENDPOINTS:
        raise RecordError(number, f"unknown endpoint {given['endpoint']!r} (known: {', '.join(ENDPOINTS)})")
    return given


def _refuse_doubles(rows: Sequence[Raw]) -> None:
    seen: dict[tuple[object, ...], int] = {}
    for number, row in enumerate(rows):
        part = row["history"] if "history" in row else row.get("endpoint", "main")
        key = (row["trap"], row["condition"], row["seed"], part, row.get("reader", ""))
        if (first := seen.setdefault(key, number)) != number:
            raise RecordError(number, f"the same as row {first}: {key}")


def _traps(rows: Sequence[Raw]) -> dict[str, TrapInfo]:
    labels: dict[str, dict[str, tuple[object, int]]] = {}
    for number, row in enumerate(rows):
        known = labels.setdefault(row["trap"], {})
        for name in _LABELS:
            if name in row:
                value, first = known.setdefault(name, (row[name], number))
                if value != row[name]:
                    raise RecordError(
                        number, f"trap {row['trap']!r}: {name} is {row[name]!r}, and {value!r} in row {first}"
                    )
    return {trap: TrapInfo(**{name: v for name, (v, _) in known.items()}) for trap, known in labels.items()}  # type: ignore[arg-type]


def _refuse_gaps(rows: Sequence[Raw]) -> None:
    """Every condition must have the trap and seed (and endpoint and reader level) that any other has."""
    places: dict[tuple[object, ...], dict[str, int]] = {}
    for number, row in enumerate(rows):
        endpoint = "" if "history" in row else row.get("endpoint", "main")
        key = (row["trap"], row["seed"], endpoint, row.get("reader", ""))
        places.setdefault(key, {}).setdefault(row["condition"], number)
    conditions = {row["condition"] for row in rows}
    have = {(condition, key[0]) for key, by in places.items() for condition in by}
    for (trap, seed, *_), by in places.items():
        for condition in sorted(conditions - set(by)):
            other, number = next(iter(by.items()))
            gone = f"seed {seed}" if (condition, trap) in have else "the trap"
            raise RecordError(
                number, f"trap {trap!r}, seed {seed}: {condition} lacks {gone} that {other} has here; say `invalid`"
            )


def _plain_cells(rows: Sequence[Raw], traps: Mapping[str, TrapInfo]) -> dict[Endpoint, tuple[CellRecord, ...]]:
    found: dict[Endpoint, list[CellRecord]] = {}
    for row in rows:
        cell = CellRecord(
            row["trap"],
            traps[row["trap"]].construct,
            row["condition"],
            row["seed"],
            cast(Outcome, row["outcome"]),
            row.get("reader", ""),
            row.get("cause", ""),
        )
        found.setdefault(cast(Endpoint, row.get("endpoint", "main")), []).append(cell)
    return {endpoint: tuple(found[endpoint]) for endpoint in ENDPOINTS if endpoint in found}


def _arm_cells(rows: Sequence[Raw], traps: Mapping[str, TrapInfo]) -> dict[Endpoint, tuple[CellRecord, ...]]:
    arms = [
        ArmRow(
            row["trap"],
            traps[row["trap"]].construct,
            row["condition"],
            row["seed"],
            row["history"],
            row.get("endpoint") == "main",
            row.get("reader", ""),
            cast(Outcome, row["outcome"]),
            row.get("cause", ""),
        )
        for row in rows
    ]
    told: tuple[Endpoint, ...] = ENDPOINTS if any(arm.main for arm in arms) else ("matched",)
    return {endpoint: cells_of(arms, endpoint) for endpoint in told}
