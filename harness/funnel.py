"""The fact funnel: how far each fact of an arm came, and where it was lost.

    injected -> written -> alive after sleep -> admitted into the S3 view -> used in the S3 change

A token is followed by its text, a choice or a story by the number of the note that told it. Invariant: the stages
are monotone (a fact that is used was admitted, alive and written), every injected fact has exactly one place where it
ended, and a store that cannot be listed is `unknown`, never `lost`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_probe.protocol import Receipt, StoredRecord, Unlisted, View
from traps.facts import fold

STAGES = ("injected", "written", "alive", "admitted", "used")
_WORD = re.compile(r"[^\s`'\",;()<>]+")
_ALIVE = ("active", "unknown")


@dataclass(frozen=True)
class Tracer:
    """What is looked for: a fact's `name`, its `text` (token value, or the note's number), and its `role`."""

    name: str
    text: str
    role: str


@dataclass(frozen=True)
class Trace:
    """How far one fact came. `stage` is the last one it reached; `lost` says why it went no further ("" = used).

    `corrupted` is true when only a changed form was found at the first stage that misses the exact text.
    """

    name: str
    role: str
    stage: str
    lost: str
    corrupted: bool = False


def trace(
    tracer: Tracer,
    receipts: Sequence[Receipt],
    records: Sequence[StoredRecord] | Unlisted,
    view: View,
    used: Iterable[str],
) -> Trace:
    """Follow one fact. The later stages are looked at first: what was seen late must have passed the early ones."""
    found = tracer.text
    if tracer.name in used and any(found in item.text for item in view.items):
        return Trace(tracer.name, tracer.role, "used", "")
    if any(found in item.text for item in view.items):
        return Trace(tracer.name, tracer.role, "admitted", "not used in the change")
    if near(found, (item.text for item in view.items)):
        return Trace(tracer.name, tracer.role, "alive", "corrupted in the view", True)
    reason = next((r.why for r in view.rejected if found in r.text), "")
    if isinstance(records, Unlisted):
        if reason:
            return Trace(tracer.name, tracer.role, "alive", reason)
        return _unlisted(tracer, receipts, records)
    holding = [record for record in records if found in record.text]
    if any(record.state in _ALIVE for record in holding):
        return Trace(tracer.name, tracer.role, "alive", reason or "not among the candidates")
    if holding:
        return Trace(tracer.name, tracer.role, "written", f"{holding[0].state} after sleep")
    if near(found, (record.text for record in records)):
        return Trace(tracer.name, tracer.role, "injected", "corrupted in the store", True)
    return _unwritten(tracer, receipts)


def _unlisted(tracer: Tracer, receipts: Sequence[Receipt], records: Unlisted) -> Trace:
    if any(r.status == "ok" and tracer.text in r.text for r in receipts):
        return Trace(tracer.name, tracer.role, "written", f"unknown: {records.why}")
    return _unwritten(tracer, receipts)


def _unwritten(tracer: Tracer, receipts: Sequence[Receipt]) -> Trace:
    telling = [r for r in receipts if tracer.text in r.text]
    if any(r.status == "ok" for r in telling):
        return Trace(tracer.name, tracer.role, "written", "gone after sleep")
    if telling:
        return Trace(tracer.name, tracer.role, "injected", f"{telling[0].status}: {telling[0].why}")
    if near(tracer.text, (r.text for r in receipts)):
        return Trace(tracer.name, tracer.role, "injected", "corrupted when written", True)
    return Trace(tracer.name, tracer.role, "injected", "not written")


def near(token: str, texts: Iterable[str]) -> bool:
    """Does a text hold a changed form: within edit distance 2 after folding, or a prefix of at least 8 characters?"""
    wanted = fold(token)
    return any(_resembles(wanted, fold(word)) for text in texts for word in _WORD.findall(text))


def _resembles(wanted: str, word: str) -> bool:
    if len(word) >= 8 and wanted.startswith(word):
        return True
    return abs(len(word) - len(wanted)) <= 2 and _distance(wanted, word, 2) <= 2


def _distance(one: str, other: str, most: int) -> int:
    """Levenshtein distance, given up above `most`."""
    row = list(range(len(other) + 1))
    for number, left in enumerate(one, 1):
        before, row = row, [number]
        for column, right in enumerate(other, 1):
            row.append(min(row[-1] + 1, before[column] + 1, before[column - 1] + (left != right)))
        if min(row) > most:
            return most + 1
    return row[-1]
