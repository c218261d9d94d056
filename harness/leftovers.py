"""What sessions had used when their run was killed: counted from the exchanges that they left behind.

The relay writes a line when a call is let through and one when it is over, so that what was asked for is known even
if nobody was there any more to hear the answer.

Invariant: an exchange is counted once, however often taking it in is cut short: it is kept among the blobs, then told
in lost.jsonl, then removed from where sessions lie.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.cost import PriceTable
from containers.relay_record import CALLS
from containers.relay_rules import Ledger, ModelUsage, total
from containers.relay_usage import Tokens
from harness.door import EXCHANGES
from harness.outcome import UsageFault
from harness.records import ModelUse
from harness.rundir import RunDir
from harness.spending import use_of
from traps.schema import explain

LOST = "lost.jsonl"


class Lost(BaseModel):
    """One line of lost.jsonl: what a session that never got into the ledger had used."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    use: ModelUse


def take_in(folder: RunDir, prices: PriceTable, settled: Collection[str]) -> int:
    """Count what killed sessions left; how many there were. Only for who holds the lock. Raises OSError.

    `settled` are the exchanges of sessions that are in the ledger: the run may have been killed right after that.
    """
    place = folder.path / EXCHANGES
    found = sorted(place.glob("*.jsonl")) if place.is_dir() else []
    for path in found:
        calls = path.with_suffix(CALLS)
        use = use_of(_ledger(path, calls), folder.put_packed(path.read_bytes()), prices)
        if use.calls and use.exchange not in {*settled, *(known.exchange for known in lost(folder))}:
            _append(folder.path / LOST, Lost(use=use).model_dump_json())
        calls.unlink(missing_ok=True)
        path.unlink()
    return len(found)


def lost(folder: RunDir) -> list[ModelUse]:
    """What is told in lost.jsonl. Raises UsageFault for a line that cannot be read."""
    path = folder.path / LOST
    if not path.exists():
        return []
    try:
        return [Lost.model_validate_json(line).use for line in path.read_text(encoding="utf-8").splitlines()]
    except (ValidationError, ValueError) as error:
        why = explain(error) if isinstance(error, ValidationError) else str(error)
        raise UsageFault(f"{path}: a line that cannot be read: {why[:200]}") from error


def _ledger(path: Path, calls: Path) -> Ledger:
    """What a transcript and its list of calls say: calls without a line were still waiting when all ended."""
    begun = {row["number"]: str(row["model"]) for row in _lines(calls)}
    done = {row["number"]: row for row in _lines(path)}
    by_model: dict[str, list[Tokens | None]] = {}
    for number, model in begun.items():
        by_model.setdefault(model, []).append(_tokens(done.get(number)))
    return Ledger(
        calls=len(begun),
        usage=tuple(ModelUsage(model, len(parts), _sum(parts)) for model, parts in by_model.items()),
        waited=sum(float(row.get("waited") or 0.0) for row in done.values()),
    )


def _tokens(row: Mapping[str, Any] | None) -> Tokens | None:
    """None where they are not known. What was answered by an error, or asks for a count only, has cost nothing."""
    if row is None:
        return None
    if row["tokens"]:
        return Tokens(**row["tokens"])
    free = (row["status"] or 0) >= 400 or "count" in str(row["target"]).rpartition("/")[2].lower()
    return Tokens(0, 0) if free and row["end"] not in ("left", "limit") else None


def _sum(parts: list[Tokens | None]) -> Tokens | None:
    known = [part for part in parts if part is not None]
    return total(known) if len(known) == len(parts) else None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file; the last one may have been cut."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)


def _append(path: Path, line: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "ab") as file:
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(handle)
