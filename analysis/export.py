"""Every number of a report as plain data, and the comparison of two such exports.

Invariant: what is counted or exact (integers, words, p as a fraction) has to be equal; every other number agrees to
twelve significant digits, which is what different machines' libraries of mathematics can be held to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from analysis.plain import plain
from analysis.report.findings import find
from analysis.report.source import RunData

DIGITS = 12


def numbers(data: RunData) -> dict[str, Any]:
    """Tallies by reader level and condition, and every reading (rates, gates, slots, falsifiers).

    Raises RecordError, FamilyError as `analysis.report.build`.
    """
    found = find(data)
    tallies = [
        {"reader": reader, "condition": condition, **asdict(tally)}
        for (reader, condition), tally in found.tallies.items()
    ]
    readings = [plain(reading) for reading in found.readings.values()]
    return {"family": found.family.digest if found.registered else None, "tallies": tallies, "readings": readings}


def differing(recorded: object, again: object, where: str = "") -> Iterator[str]:
    """Where two exports differ: `readings.0.slots.2.p.exact: 1/8 became 1/4`."""
    if isinstance(recorded, dict) and isinstance(again, dict):
        for key in sorted({*recorded, *again}, key=str):
            place = f"{where}.{key}" if where else str(key)
            if key not in recorded or key not in again:
                yield f"{place}: {'is missing' if key not in recorded else 'should not be there'}"
            else:
                yield from differing(recorded[key], again[key], place)
    elif isinstance(recorded, list) and isinstance(again, list):
        if len(recorded) != len(again):
            yield f"{where}: {len(recorded)} entries became {len(again)}"
        for number, (old, new) in enumerate(zip(recorded, again, strict=False)):
            yield from differing(old, new, f"{where}.{number}")
    elif not _same(recorded, again):
        yield f"{where}: {_short(recorded)} became {_short(again)}"


def _same(old: object, new: object) -> bool:
    if type(old) is float and type(new) is float:
        return old == new or math.isclose(old, new, rel_tol=0.5 * 10 ** (1 - DIGITS), abs_tol=0.0)
    return type(old) is type(new) and old == new


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
