"""Builders for the tests of the reference probe: notes, sessions, stores with planted memories."""

from __future__ import annotations

import datetime as dt
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_probe.family import members
from memory_probe.probe import ProbeMemory, Variant
from memory_probe.protocol import Budget, Card, Episode, Note, Query, Scope, View
from memory_probe.read.gate import Policy
from memory_probe.store.derived import Append, Derived, Proposal
from memory_probe.store.model import Link, Memory, Provenance, Standing
from memory_probe.store.schema import FILE, open_store
from memory_probe.store.verify import Problem, verify

DAY = dt.date(2026, 1, 5)
NOW = dt.date(2026, 2, 1)
FILES = ("src/mail.py",)
QUERY = Query("add reminders to the mail channel", FILES, (), "demo", "mail reminders", NOW)
WIDE = Budget(99, 99_999)
CARD = Card("T", "under test", "1")


def note(text: str, day: int = 0, kind: str = "human_feedback", **told: Any) -> Note:
    """An event about the files and task of QUERY unless told otherwise."""
    scope = Scope(told.pop("files", FILES), told.pop("symbols", ()), told.pop("task", "mail reminders"))
    plain = {"author": "desk", "authority": 2, "until": None, **told}
    return Note(text=text, kind=kind, date=DAY + dt.timedelta(day), scope=scope, **plain)


def episode(*notes: Note, day: int = 0, passed: bool = True, **told: Any) -> Episode:
    plain = {"prompt": "p", "steps": "ran the checks", "delta": "+++ b/src/mail.py\n+x", "check_output": "", **told}
    return Episode(1, "demo", "mail reminders", DAY + dt.timedelta(day), check_passed=passed, notes=notes, **plain)


def variant(code: str = "DF") -> Variant:
    return members()[code].variant


def without_operator(name: str, code: str = "DF") -> Variant:
    """A variant of the family with one operator less."""
    base = variant(code)
    assert name in base.operators
    return replace(base, operators=tuple(o for o in base.operators if o != name))


def without_gate(name: str) -> Variant:
    """DF with one gate less. Without the gate of the status, every status but deleted is passed on."""
    base = variant()
    assert name in base.policy.gates
    return replace(base, policy=Policy(tuple(g for g in base.policy.gates if g != name)))


def made(folder: Path, of: Variant | None = None) -> ProbeMemory:
    return ProbeMemory(CARD, of or variant(), folder)


def lived(folder: Path, *episodes: Episode, of: Variant | None = None) -> ProbeMemory:
    """A memory that recorded each episode and slept after it."""
    memory = made(folder, of)
    for each in episodes:
        memory.record(each)
        memory.sleep(each.date)
    return memory


def planted(folder: Path, *appends: Append, links: tuple[Link, ...] = (), of: Variant | None = None) -> ProbeMemory:
    """A memory whose derived store was given memories and links by hand, with one episode to point at."""
    memory = made(folder, of)
    memory.record(episode(note("nothing of note", task="", files=())))
    memory.close()
    with closing(open_store(folder, f"{CARD.code} {(of or variant()).digest()}")) as connection:
        connection.execute("BEGIN")
        Derived(connection).write(Proposal(appends, links=links), "planted", DAY)
        connection.execute("COMMIT")
    return made(folder, of)


def item(content: str = "reminders go to the mail channel", **told: Any) -> Append:
    """A memory to plant, active and grounded; `standing` holds what differs in its standing."""
    state = told.pop("standing", {})
    plain = {
        "type": "human_feedback",
        "provenance": Provenance(trajectory=("episode:1",)),
        "write_reason": "planted",
        "repository": "demo",
        "scope": Scope(FILES, (), "mail reminders"),
        "created": DAY,
        "valid_from": DAY,
    }
    return Append(Memory(content=content, **{**plain, **told}), replace(Standing(updated=DAY), **state))


def shown(memory: ProbeMemory, query: Query = QUERY, budget: Budget = WIDE) -> list[str]:
    return [i.text for i in memory.read(query, budget).items]


def why(view: View, text: str) -> str:
    """The machine word of the reason for which a text is not in the view."""
    return next(r.why.partition(":")[0] for r in view.rejected if r.text == text)


def states(memory: ProbeMemory) -> dict[str, str]:
    return {r.text: r.state for r in memory.records(include_inactive=True)}


def problems(folder: Path) -> list[Problem]:
    return verify(folder / FILE)
