"""The general reader: what each level takes from fields and from words."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_probe.protocol import Scope, View, ViewItem
from memory_probe.render import HEADING as RENDERED_HEADING
from memory_probe.render import render
from traps.reader.notes import HEADING, Notes, parse
from traps.reader.shapes import SHAPES, values

OLD, NEW, OTHER = "ch-0a1b2c3d4e5f", "ch-ffeeddccbbaa", "ch-111122223333"
TODAY = dt.date(2026, 2, 1)


def item(text: str, **fields: object) -> ViewItem:
    return ViewItem(text, **fields)  # type: ignore[arg-type]


def notes(level: str, *items: ViewItem) -> Notes:
    return Notes("Do the work.\n\n" + render(View(items), TODAY), level)


def test_renderer_and_reader_agree_on_the_heading() -> None:
    assert RENDERED_HEADING == HEADING


def test_fields_and_text_come_back_as_rendered() -> None:
    given_item = item("line one\n\n[9] not an item\nby the desk", date=dt.date(2026, 1, 5), scope=Scope(("src/a.py",)))
    today, (found,) = parse("x\n\n" + render(View((given_item,)), TODAY))
    assert today == "2026-02-01"
    assert (found.text, found.date, found.files) == (given_item.text, "2026-01-05", ("src/a.py",))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1), max_size=4))
def test_any_text_survives_the_round_trip(texts: list[str]) -> None:
    texts = [t.rstrip("\n") or "x" for t in texts]
    _, found = parse(render(View(tuple(map(item, texts))), TODAY))
    assert [f.text.rstrip() for f in found] == [t.rstrip() for t in texts]


def test_nothing_in_the_notes_is_none() -> None:
    assert notes("careful").recall("tag", about="mail channel") is None


def test_a_note_on_something_else_is_not_taken() -> None:
    reader = notes("careful", item(f"Note N-1000 by the desk, 2026-01-05: the parking lot is `{OLD}`."))
    assert reader.recall("tag", about="mail channel") is None


@pytest.mark.parametrize("level", ["careful", "credulous"])
def test_a_value_of_the_shape_is_taken_exactly(level: str) -> None:
    reader = notes(level, item(f"Note N-1000 by the desk, 2026-01-05: the mail channel is `{OLD}`."))
    assert reader.recall("tag", about="mail channel") == OLD


REPLACED = (
    item(f"Note N-1001 by the desk, 2026-01-05. The mail channel is `{OLD}`."),
    item(f"Note N-1002 by the desk, 2026-01-06. The mail channel is `{NEW}`. This replaces N-1001."),
)


def test_careful_follows_replaces_in_either_order() -> None:
    for order in (REPLACED, REPLACED[::-1]):
        assert notes("careful", *order).recall("tag", about="mail channel") == NEW


def test_credulous_believes_the_best_ranked_when_no_field_says_more() -> None:
    assert notes("credulous", *REPLACED).recall("tag", about="mail channel") == OLD


def test_credulous_takes_state_scope_and_date_fields() -> None:
    dated = [
        item(f"mail channel `{OLD}`", date=dt.date(2026, 1, 5)),
        item(f"mail channel `{NEW}`", date=dt.date(2026, 1, 6)),
    ]
    assert notes("credulous", *dated).recall("tag", about="mail channel") == NEW
    stated = [item(f"mail channel `{OLD}`", state="superseded"), item(f"mail channel `{NEW}`", state="active")]
    assert notes("credulous", *stated).recall("tag", about="mail channel") == NEW
    scoped = [item(f"mail channel `{OLD}`", scope=Scope(("src/b.py",))), item(f"mail channel `{NEW}`")]
    assert notes("credulous", *scoped).recall("tag", about="mail channel", path="src/a.py") == NEW


def test_replaced_value_in_the_same_note_is_not_taken() -> None:
    reader = notes(
        "careful", item(f"Note N-1 by the desk, 2026-01-05. The mail channel is `{NEW}` instead of `{OLD}`.")
    )
    assert reader.recall("tag", about="mail channel") == NEW


@pytest.mark.parametrize("words", ["was disproved by a rerun", "is\nwithdrawn", "no longer holds", "no\nlonger holds"])
def test_careful_drops_what_was_disproved(words: str) -> None:
    story = item(f"Note N-1001 by the desk, 2026-01-05. Mail channel timeouts go away with `{OLD}`.")
    finding = item(f"Note N-1002 by the lab, 2026-01-09. The finding of N-1001 {words}.")
    assert notes("careful", story, finding).recall("tag", about="mail channel timeouts") is None
    assert notes("credulous", story, finding).recall("tag", about="mail channel timeouts") == OLD


def test_careful_keeps_to_the_written_scope() -> None:
    note = item(f"Note N-1 by the desk, 2026-01-05. Mail channel `{OLD}`. This applies only to `src/a.py` and `docs/`.")
    reader = notes("careful", note)
    assert reader.recall("tag", about="mail channel", path="src/a.py") == OLD
    assert reader.recall("tag", about="mail channel", path="docs/x/y.md") == OLD
    assert reader.recall("tag", about="mail channel", path="src/b.py") is None
    assert notes("credulous", note).recall("tag", about="mail channel", path="src/b.py") == OLD


AUTHORITY = (
    item(f"Memo N-1 by the audit office, 2026-01-03. The mail channel is `{OLD}`."),
    item(f"Note N-2 by the storage team, 2026-01-05. The mail channel is `{NEW}`."),
    item(
        "Rule N-3 by the lead, 2026-01-06: for channels the audit office outranks the storage team and the help desk."
    ),
    item(f"Note N-4 by the help desk, 2026-01-07. The mail channel is `{OTHER}`."),
)


def test_careful_obeys_precedence_and_credulous_the_date() -> None:
    assert notes("careful", *AUTHORITY).recall("tag", about="mail channel") == OLD
    dated = [item(i.text, date=dt.date(2026, 1, 3 + n)) for n, i in enumerate(AUTHORITY)]
    assert notes("credulous", *dated).recall("tag", about="mail channel") == OTHER


def test_a_name_that_is_broken_by_a_line_end_is_the_same_name() -> None:
    rule = (
        "Rule N-3 by the lead, 2026-01-06: for channels the audit\noffice outranks the storage\nteam and the help desk."
    )
    shown = [item(rule) if "Rule" in i.text else i for i in AUTHORITY]
    assert notes("careful", *shown).recall("tag", about="mail channel") == OLD


def test_a_loser_counts_when_the_winner_said_nothing() -> None:
    assert notes("careful", *AUTHORITY[1:3]).recall("tag", about="mail channel") == NEW


def test_expired_notes_are_dropped() -> None:
    note = item(f"Note N-1 by the desk, 2026-01-05. Mail channel `{OLD}`, valid until 2026-01-20.")
    assert notes("careful", note).recall("tag", about="mail channel") is None


@pytest.mark.parametrize(
    "words",
    [
        "This is valid until\n2026-01-10.",
        "This is valid\nuntil 2026-01-10.",
        "This expires\non 2026-01-10.",
        "This applies only\nto `src/b.py`.",
        "Limited\nto `src/b.py`.",
    ],
)
def test_a_line_that_ends_inside_a_cue_does_not_hide_it(words: str) -> None:
    note = item(f"Note N-1 by the desk, 2026-01-05. Mail channel `{OLD}`. {words}")
    assert notes("careful", note).recall("tag", about="mail channel", path="src/a.py") is None


SAMPLES = {
    "tag": "größe-0a1b2c3d4e5f",
    "dotted": "mail.out.0a1b2c3d4e5f",
    "slashed": "/hooks/0a1b2c3d4e5f",
    "upper": "LBL_0A1B2C3D4E5F",
    "colon": "lbl:0a1b2c3d4e5f",
    "word": "`half-even`",
    "count": "`37`",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_finds_its_own_and_only_its_own(shape: str) -> None:
    for name, sample in SAMPLES.items():
        found = [v for _, v in values(shape, f"use {sample}, or ({sample}).")]
        assert found == ([sample.strip("`")] * 2 if name == shape else []), name
