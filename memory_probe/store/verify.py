"""Audit of a store file by itself: nothing is taken from a running memory.

Invariant: it computes everything again from the rows (hashes, standings, references) and never raises for what a
file holds; whatever is wrong is a `Problem`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memory_probe.store import raw_log
from memory_probe.store.derived import lifecycle, load
from memory_probe.store.model import Standing, changed, changes_text
from memory_probe.store.schema import connect, foreign
from memory_probe.store.view import StoreView


@dataclass(frozen=True)
class Problem:
    """Where in a store something is wrong, and what."""

    where: str
    message: str


def verify(path: Path) -> list[Problem]:
    """Everything that is wrong with a store file; empty when it is sound."""
    if not path.is_file():
        return [Problem(path.name, "no such file")]
    try:
        with closing(connect(path)) as connection:
            if why := foreign(connection):
                return [Problem(path.name, why)]
            found = [Problem(where, what) for where, what in raw_log.breaks(connection)]
            return found + list(_derived(connection))
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        return [Problem(path.name, f"{type(error).__name__}: {error}")]


def evidence_ids(connection: sqlite3.Connection) -> set[str]:
    """Every id that a provenance may name."""
    found: set[str] = set()
    for recorded in raw_log.since(connection, 0):
        found |= {recorded.id, recorded.check_id}
        found |= {recorded.note_id(i) for i in range(1, len(recorded.episode.notes) + 1)}
    return found


def _derived(connection: sqlite3.Connection) -> Iterator[Problem]:
    view = load(connection)
    yield from _provenance(view, evidence_ids(connection))
    yield from _lifecycle(view, lifecycle(connection))
    for (row,) in connection.execute("SELECT memory FROM standing WHERE memory NOT IN (SELECT id FROM memory)"):
        yield Problem(f"memory {row}", "has a standing but was never written")
    for link in view.links:
        if link.kind == "supersedes" and view.memory(link.source).repository != view.memory(link.target).repository:
            yield Problem(f"memory {link.source}", f"supersedes {link.target} of another repository")


def _provenance(view: StoreView, known: set[str]) -> Iterator[Problem]:
    for number in view.ids():
        origin = view.memory(number).provenance
        reached = origin.evidence()
        for missing in (e for e in reached if e not in known):
            yield Problem(f"memory {number}", f"its evidence {missing} is not in the raw log")
        if not reached and view.status(number) not in ("requires_review", "deleted"):
            yield Problem(f"memory {number}", f"is {view.status(number)} and reaches no raw evidence")


def _lifecycle(view: StoreView, log: dict[int, list[tuple[str, str, str, str]]]) -> Iterator[Problem]:
    for number in view.ids():
        replayed = Standing()
        for _, _, _, entry in log.get(number, []):
            replayed = changed(replayed, entry)
        if number not in log:
            yield Problem(f"memory {number}", "has no lifecycle")
        elif changes_text(vars(replayed)) != changes_text(vars(view.standing(number))):
            yield Problem(f"memory {number}", "its lifecycle does not lead to its standing")
    for number in log.keys() - set(view.ids()):
        yield Problem(f"memory {number}", "has a lifecycle but was never written")
