"""Scoring and packing as published: each term by hand, ties, budgets, and what a view exposes."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_probe.protocol import Budget, Query, Scope, count_tokens
from memory_probe.read.candidates import asked, phase
from memory_probe.read.score import scores, values
from memory_probe.store.model import Link, Provenance
from memory_probe.weights import Weights

from .probe_kit import DAY, NOW, QUERY, WIDE, episode, item, lived, note, planted, shown, variant

W = Weights()


def value(folder: Path, term: str, query: Query = QUERY, **told: Any) -> float:
    """One value of the score of one planted memory."""
    view = planted(folder, item(**told))._derived.view
    return float(values(view, asked(query), W)[term][0])


def test_the_score_is_the_published_sum(tmp_path: Path) -> None:
    told = item(
        "reminders use mail",
        type="procedural",
        provenance=Provenance(trajectory=("episode:1",), task="t", path=("p",)),
        human_verified=True,
        scope=Scope(("src/mail.py",), (), "mail reminders"),
        tags=("mail",),
        valid_from=NOW - dt.timedelta(30),
        standing={"confidence": 0.6, "utility": 0.7, "risk": 0.2, "staleness": 0.3},
    )
    query = Query("add reminders to the mail channel", ("src/mail.py", "src/b.py"), ("Mail",), "demo", "mail", NOW)
    view = planted(tmp_path, told)._derived.view
    expected = (
        1.4 * 2 / 5  # {reminder, mail} of {reminder, use, mail} and {add, reminder, mail, channel}
        + 1.0 * 1 / 2  # tags: mail of {mail, b}
        + 1.0 * 1 / 2  # files: one of two asked
        + 0.8 * 0.2  # symbols: the memory states none
        + 0.8 * 1.0  # task: mail of {mail}
        + 0.5 * 1.0  # procedural is preferred when implementing
        + 0.6 * 0.6
        + 0.8 * 0.7
        + 0.3
        + 0.4 * (0.25 + 0.2 * 3)
        - 1.0 * 0.3
        - 1.2 * 0.2
        - 0.2 * math.log1p(30) / math.log1p(365)
    )
    assert scores(view, asked(query), W)[0] == pytest.approx(expected, abs=1e-8)


def test_overlaps_are_divided_by_the_questions_side(tmp_path: Path) -> None:
    asked_files = replace(QUERY, paths=("src/mail.py", "src/a.py", "src/b.py", "docs/x.md"))
    assert value(tmp_path / "1", "files", asked_files, scope=Scope(("src/**",))) == 0.75
    assert value(tmp_path / "2", "files", asked_files, scope=Scope(("docs/",))) == 0.25
    assert value(tmp_path / "3", "files", asked_files, scope=Scope()) == 0.2
    assert value(tmp_path / "4", "files", replace(QUERY, paths=()), scope=Scope(("src/a.py",))) == 0
    asked_folder = replace(QUERY, paths=("src/**", "docs/x.md"))
    assert value(tmp_path / "7", "files", asked_folder, scope=Scope(("src/a.py",))) == 0.5
    asked_names = replace(QUERY, symbols=("Mail.send", "Box"))
    assert value(tmp_path / "5", "symbols", asked_names, scope=Scope((), ("Mail",))) == 0.5
    assert value(tmp_path / "6", "task", QUERY, scope=Scope((), (), "the reminders and more")) == 0.5


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Add a channel and write its name", "implement"),
        ("Fix the bug that makes it crash", "debug"),
        ("Answer the review feedback", "review"),
        ("The weather is fine", ""),
    ],
)
def test_phases(prompt: str, found: str) -> None:
    assert phase(prompt) == found


def test_type_priors_by_phase(tmp_path: Path) -> None:
    debug, none = replace(QUERY, prompt="fix the crash"), replace(QUERY, prompt="mail")
    assert value(tmp_path / "1", "type_prior", debug, type="failure") == 1
    assert value(tmp_path / "2", "type_prior", debug, type="human_feedback") == 0.45
    assert value(tmp_path / "3", "type_prior", none, type="failure") == 0.5


def test_age_provenance_overscope_and_dispute(tmp_path: Path) -> None:
    assert value(tmp_path / "1", "age", valid_from=NOW - dt.timedelta(4000)) == 1
    assert value(tmp_path / "2", "age", valid_from=NOW + dt.timedelta(4)) == 0
    full = Provenance(("episode:1",), "t", ("c",), ("p",), ("episode:1/check",), ("episode:1/note:1",))
    assert value(tmp_path / "3", "provenance", provenance=full) == 1
    assert value(tmp_path / "4", "provenance", provenance=Provenance()) == 0
    assert value(tmp_path / "5", "overscope", scope=Scope()) == 1
    assert value(tmp_path / "6", "overscope", scope=Scope((), (), "mail")) == 0
    both = planted(tmp_path / "7", item("a"), item("b"), links=(Link(2, "contradicts", 1),))._derived.view
    assert list(values(both, asked(QUERY), W)["contradiction"][:2]) == [1, 1]
    over = item("a", standing={"status": "superseded"}), item("b")
    settled = planted(tmp_path / "8", *over, links=(Link(2, "contradicts", 1),))._derived.view
    assert values(settled, asked(QUERY), W)["contradiction"][1] == 0


def test_words_of_any_script_are_found(tmp_path: Path) -> None:
    for name, text, prompt in (("el", "κανάλι ειδοποίησης", "ΚΑΝΆΛΙ"), ("zh", "提醒发送到邮件频道", "邮件")):
        assert value(tmp_path / name, "semantic", replace(QUERY, prompt=prompt, task=""), content=text) > 0


def test_admission_is_at_or_above_the_threshold(tmp_path: Path) -> None:
    weak = item("zzz", scope=Scope(), type="semantic_project", standing={"confidence": 0.1, "utility": 0.1})
    view = planted(tmp_path / "a", weak, item("reminders go to the mail channel")).read(QUERY, WIDE)
    assert [i.text for i in view.items] == ["reminders go to the mail channel"]
    assert view.rejected[0].why.startswith("score: ")
    everything = planted(tmp_path / "b", weak, item(), of=variant("A6")).read(QUERY, WIDE)
    assert len(everything.items) == 2


def test_order_is_score_then_newest_update_then_id(tmp_path: Path) -> None:
    later = {"updated": DAY + dt.timedelta(3)}
    items = item("c", scope=Scope(("src/mail.py",), (), "")), item("a"), item("b", standing=later), item("d")
    assert shown(planted(tmp_path, *items)) == ["b", "a", "d", "c"]


def test_an_item_that_overflows_is_skipped_and_the_next_tried(tmp_path: Path) -> None:
    long, short = item("reminders mail channel add " * 20, human_verified=True), item("reminders mail channel add")
    memory = planted(tmp_path, long, short)
    assert shown(memory) == [long.memory.content, short.memory.content]
    assert shown(memory, budget=Budget(6, 79)) == [short.memory.content]


def test_strict_variants_tighten_the_budget_and_never_widen_it(tmp_path: Path) -> None:
    notes = [note(f"reminders go to the mail channel {n} " + "x " * 190) for n in range(9)]
    strict = lived(tmp_path / "a", episode(*notes), of=variant("DF-strict"))
    view = strict.read(QUERY, Budget(6, 1200))
    assert len(view.items) == 3
    assert sum(count_tokens(i.text) for i in view.items) <= 600
    assert len(strict.read(QUERY, Budget(1, 1200)).items) == 1
    assert sum(count_tokens(i.text) for i in strict.read(QUERY, Budget(None, 300)).items) <= 300


def test_a_view_exposes_type_scope_date_state_and_provenance(tmp_path: Path) -> None:
    memory = lived(tmp_path, episode(note("reminders go to the mail channel", 3, symbols=("Mail",))))
    shown_item = memory.read(QUERY, Budget(1, 99)).items[0]
    assert shown_item.date == DAY + dt.timedelta(3)
    assert shown_item.type == "human_feedback"
    assert shown_item.scope == Scope(("src/mail.py",), ("Mail",), "mail reminders")
    assert (shown_item.state, shown_item.successor) == ("active", None)
    assert shown_item.provenance == "episode 1 note 1"


def test_unsuppressed_reading_shows_the_old_side_with_its_state_and_successor(tmp_path: Path) -> None:
    old = note("Note AB-1001 by the desk: reminders go to `mail-old`.")
    new = note("Note AB-1002: reminders go to `mail-new`. This replaces AB-1001.", 9)
    view = lived(tmp_path, episode(old), episode(new, day=9), of=variant("A5")).read(QUERY, WIDE)
    found = {i.text: i for i in view.items}
    assert found[old.text].state == "superseded"
    successor = found[old.text].successor
    assert successor is not None
    assert view.items[successor - 1].text == new.text
