"""Records of a ledger as lines of JSON, with the attempt and the moment at which they were committed.

Invariant: a line is read back to the record that it was made from, and a line that is not one of these is refused.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.bundle.container import BundleError
from harness.ledger import Row
from traps.schema import explain

MOST_ATTEMPTS = 10_000  # of an arm
M = TypeVar("M", bound=BaseModel)


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    arm: str = Field(max_length=400)
    attempt: int = Field(ge=1, le=MOST_ATTEMPTS)
    at: str
    record: dict[str, object]


@dataclass(frozen=True)
class Told(Generic[M]):
    """A committed record. `at` is ISO 8601, UTC."""

    arm: str
    attempt: int
    at: str
    record: M

    @staticmethod
    def of(model: type[M], row: Row, clean: Callable[[str], str]) -> Told[M]:
        """The record of a row of the ledger; `clean` takes places of the machine out of its texts."""
        return Told(row.arm, row.attempt, row.at, model.model_validate_json(clean(row.record)))

    def but(self, record: M) -> Told[M]:
        """The same commitment of another record."""
        return replace(self, record=record)

    def row(self) -> Row:
        """As the ledger takes it."""
        return Row(self.arm, self.attempt, self.at, self.record.model_dump_json())


def as_lines(told: Iterable[Told[M]]) -> bytes:
    """One line a record, in the order given."""
    return b"".join(_line(one) for one in told)


def _line(told: Told[M]) -> bytes:
    data = {"arm": told.arm, "attempt": told.attempt, "at": told.at, "record": told.record.model_dump(mode="json")}
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def read_lines(name: str, data: bytes, model: type[M]) -> Iterator[Told[M]]:
    """Raises BundleError naming member and line: malformed, of an unknown version, not in the form that we write."""
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        where = f"{name}:{number}"
        try:
            raw = _Line.model_validate_json(line)
            told = Told(raw.arm, raw.attempt, raw.at, model.model_validate(raw.record))
            date = dt.datetime.fromisoformat(told.at)
        except ValidationError as error:
            raise BundleError(f"{where}: {explain(error)[:300]}") from None
        except ValueError:
            raise BundleError(f"{where}: at: {raw.at[:40]!r} is no date") from None
        if date.utcoffset() != dt.timedelta(0) or date.isoformat(timespec="milliseconds") != told.at:
            raise BundleError(f"{where}: at: {told.at[:40]!r} is not in UTC, to the millisecond")
        if _line(told) != line:
            raise BundleError(f"{where}: is not in the form that a bundle has")
        yield told
