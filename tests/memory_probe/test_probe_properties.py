"""What holds for every life of a store: generated sessions, notes that replace each other, reads in between."""

from __future__ import annotations

import datetime as dt
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_probe import text
from memory_probe.family import members
from memory_probe.probe import ProbeMemory
from memory_probe.protocol import Budget, Episode, Note, View, count_tokens
from memory_probe.store.index import FileScopes, SymbolScopes
from memory_probe.store.schema import FILE
from memory_probe.store.verify import verify

from .probe_kit import DAY, QUERY, episode, made, note

CODES = sorted(members())
SUPPRESSING = [c for c in CODES if c not in ("A5", "A6")]
KINDS = ["human_feedback", "contradiction", "staleness", "failure_diagnosis"]
SAYINGS = [
    "Reminders go to `mail-{n}`.",
    "This replaces AB-{m}.",
    "The finding in AB-{m} is withdrawn.",
    "This supersedes `mail-{m}` everywhere.",
    "The desk outranks the shop.",
    "Valid until 2026-01-{m}.",
    "Nothing new.",
]
FILES = [(), ("src/mail.py",), ("src/",), ("src/shop.py",)]


@st.composite
def lives(draw: st.DrawFn) -> list[Episode]:
    """Up to five sessions of up to four notes that speak of each other."""
    count, sessions = 10, []
    for day in range(draw(st.integers(1, 5))):
        notes: list[Note] = []
        for _ in range(draw(st.integers(0, 4))):
            saying = draw(st.sampled_from(SAYINGS)).format(n=count, m=draw(st.integers(10, 28)))
            told: dict[str, Any] = {
                "author": draw(st.sampled_from(["desk", "shop", "lead"])),
                "authority": draw(st.integers(1, 3)),
                "files": draw(st.sampled_from(FILES)),
                "task": draw(st.sampled_from(["mail reminders", "", "orders"])),
            }
            filler = " mail" * draw(st.integers(0, 400))
            content = f"Note AB-{count} by {told['author']}. {saying}{filler}"
            notes.append(note(content, day * 7 + draw(st.integers(0, 6)), draw(st.sampled_from(KINDS)), **told))
            count += 1
        sessions.append(episode(*notes, day=day * 7, passed=draw(st.booleans())))
    return sessions


budgets = st.builds(Budget, st.one_of(st.none(), st.integers(0, 8)), st.integers(0, 1500))


def raw_rows(folder: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return connection.execute("SELECT * FROM raw ORDER BY seq").fetchall()


def live(memory: ProbeMemory, life: list[Episode]) -> None:
    for each in life:
        memory.read(QUERY, Budget())
        memory.record(each)
        memory.sleep(each.date)


@settings(max_examples=60, deadline=None)
@given(lives(), st.sampled_from(CODES), budgets)
def test_every_life(life: list[Episode], code: str, budget: Budget) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memory = made(folder, members()[code].variant)
        before: list[tuple[Any, ...]] = []
        for each in life:
            live(memory, [each])
            after = raw_rows(folder)
            assert after[:-1] == before  # the raw log only grows
            before = after
        assert verify(folder / FILE) == []  # provenance, links, lifecycle
        view = memory.read(QUERY, budget)
        check_view(memory, view, budget, code)
        frozen = memory.freeze()
        assert memory.read(QUERY, budget) == view
        assert memory.freeze() == frozen  # reading writes nothing
        memory.sleep(life[-1].date)
        assert memory.freeze() == frozen  # nor does a sleep with nothing new
        memory.close()
        again = made(folder, members()[code].variant)
        assert again.read(QUERY, budget) == view
        again.close()


def check_view(memory: ProbeMemory, view: View, budget: Budget, code: str) -> None:
    assert sum(count_tokens(i.text) for i in view.items) <= budget.tokens
    assert budget.k is None or len(view.items) <= budget.k
    assert len(view.items) + len(view.rejected) == view.considered
    assert all(i.provenance for i in view.items)
    if code in SUPPRESSING:
        held, shown = memory._derived.view, memory._shown
        assert all(held.status(n) == "active" and not held.outdone(n) for n in shown)
        assert {i.state for i in view.items} <= {"active"}


@settings(max_examples=25, deadline=None)
@given(lives())
def test_every_event_is_kept_whole_whatever_happens_to_it(life: list[Episode]) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = made(Path(name), members()["DF-hybrid"].variant)
        live(memory, life)
        held = [r.text for r in memory.records(include_inactive=True)]
        for each in life:
            assert all(held.count(n.text) >= 2 for n in each.notes)
        memory.close()


@settings(max_examples=25, deadline=None)
@given(lives(), st.sampled_from(["DF", "DF-hybrid", "A11"]))
def test_two_runs_give_the_same_bytes(life: list[Episode], code: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        frozen = []
        for copy in "ab":
            memory = made(Path(name) / copy, members()[code].variant)
            live(memory, life)
            frozen.append(memory.freeze())
            memory.close()
        assert frozen[0] == frozen[1]


@pytest.mark.parametrize("code", CODES)
def test_every_condition_lives_through_one_life(code: str, tmp_path: Path) -> None:
    memory = made(tmp_path, members()[code].variant)
    notes = [note(f"Note AB-{n} by the desk: reminders go to `mail-{n}`.", n) for n in range(10, 19)]
    live(memory, [episode(*notes), episode(note("Note AB-30. This replaces AB-10.", 20, "contradiction"), day=20)])
    assert verify(tmp_path / FILE) == []
    assert len(memory.read(QUERY, Budget()).items) <= 6
    memory.sleep(DAY + dt.timedelta(400))
    assert verify(tmp_path / FILE) == []


PATHS = st.sampled_from(["src/a.py", "src/b/a.py", "src/", "src/**", "src/b/", "*.py", "a.py", "docs/x.md"])
NAMES = st.sampled_from(["Mail", "Mail.send", "Mail.send.now", "Mailer", "send", "a.b"])


@settings(deadline=None)
@given(st.lists(st.lists(PATHS, max_size=3).map(tuple), max_size=6), st.lists(PATHS, max_size=4, unique=True))
def test_the_index_of_files_answers_as_comparing_all_would(scopes: list[tuple[str, ...]], wanted: list[str]) -> None:
    index = FileScopes()
    for scope in scopes:
        index.add(scope)
    brute = [sum(any(text.same_file(p, w) for p in scope) for w in wanted) for scope in index.values]
    assert index.common(wanted).tolist() == brute


@settings(deadline=None)
@given(st.lists(st.lists(NAMES, max_size=3).map(tuple), max_size=6), st.lists(NAMES, max_size=4, unique=True))
def test_the_index_of_symbols_answers_as_comparing_all_would(scopes: list[tuple[str, ...]], wanted: list[str]) -> None:
    index = SymbolScopes()
    for scope in scopes:
        index.add(scope)
    brute = [sum(any(text.same_symbol(p, w) for p in scope) for w in wanted) for scope in index.values]
    assert index.common(wanted).tolist() == brute
