"""The fact funnel: monotone stages, one end a fact, changed forms are corrupted and not lost, unlisted is unknown."""

from __future__ import annotations

import random
import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.funnel import STAGES, Seen, Trace, Tracer, near, trace
from memory_probe.protocol import Receipt, Rejected, State, StoredRecord, Unlisted, View, ViewItem

TOKEN = "bm-0123456789ab"
FACT = Tracer("mark", TOKEN, "governing", "human_feedback", 1)
TOLD = f"the mark is {TOKEN}, said the box desk"
OTHER = "the mark is bm-ba9876543210, said the box desk"


def seen(
    *records: StoredRecord, view: View | None = None, receipts: tuple[Receipt, ...] = (Receipt("ok", TOLD),)
) -> Seen:
    return Seen(receipts, records, view or View())


def followed(found: Seen, used: bool = False, tracer: Tracer = FACT) -> tuple[str, str, bool]:
    got = trace(tracer, found, {tracer.name} if used else ())
    assert (got.name, got.role, got.kind, got.after) == (tracer.name, tracer.role, tracer.kind, tracer.after)
    return got.stage, got.lost, got.corrupted


LIVE = StoredRecord(TOLD, "active")
VIEW = View((ViewItem(TOLD),))


@pytest.mark.parametrize(
    ("found", "used", "end"),
    [
        (seen(LIVE, view=VIEW), True, ("used", "", False)),
        (seen(LIVE, view=VIEW), False, ("admitted", "not used in the change", False)),
        (seen(LIVE), True, ("alive", "not among the candidates", False)),
        (seen(LIVE, view=View((), (Rejected(TOLD, "risk: high"),))), False, ("alive", "risk: high", False)),
        (seen(StoredRecord(TOLD, "superseded")), False, ("written", "superseded after sleep", False)),
        (seen(StoredRecord(OTHER)), False, ("written", "gone after sleep", False)),
        (seen(receipts=(Receipt("rejected", TOLD, "twice"),)), False, ("injected", "rejected: twice", False)),
        (seen(receipts=()), False, ("injected", "not written", False)),
    ],
)
def test_each_end_has_its_stage_and_cause(found: Seen, used: bool, end: tuple[str, str, bool]) -> None:
    assert followed(found, used) == end


CHANGED = {
    "changed hyphen": "bm\u20110123456789ab",
    "no hyphen": "bm0123456789ab",
    "underscore": "bm_0123456789ab",
    "case fold": "BM-0123456789AB",
    "full width": "ｂｍ-0123456789ab",
    "one character": "bm-0123456789aa",
    "two swapped": "bm-0123457689ab",
    "trimmed tail": "bm-01234",
    "trimmed tail, with dots": "bm-0123456789…",
    "inside of a word": "mark=bm-012345678ab;",
}


@pytest.mark.parametrize("form", CHANGED.values(), ids=CHANGED)
def test_a_changed_form_is_corrupted_and_never_lost(form: str) -> None:
    text = TOLD.replace(TOKEN, form)
    assert followed(seen(StoredRecord(text))) == ("injected", "corrupted in the store", True)
    assert followed(seen(LIVE, view=View((ViewItem(text),)))) == ("alive", "corrupted in the view", True)
    assert followed(seen(receipts=(Receipt("ok", text),))) == ("injected", "corrupted when written", True)


FARTHER = {
    "seven characters": "bm-0123",
    "another of its shape": "bm-ba9876543210",
    "three edits": "bm-0123xxx789ab",
    "grown from its prefix": "bm-012345ffffff",
    "constant part": "bm-",
}


@pytest.mark.parametrize("form", FARTHER.values(), ids=FARTHER)
def test_what_is_farther_away_is_another_text(form: str) -> None:
    assert not near(TOKEN, [f"it is {form} now"])


def test_a_word_that_tokens_begin_with_is_no_trimmed_token() -> None:
    assert not near("notification-0123456789ab", ["a notification- line, and a notification"])
    assert near("notification-0123456789ab", ["a notification-0 line"])


def test_a_note_number_is_followed_exactly() -> None:
    story = Tracer("note e1", "N-123456", "spurious", exact=True)
    like = StoredRecord("as note N-123457 says")
    told = (Receipt("ok", "as note N-123456 says"),)
    assert followed(seen(like, receipts=told), tracer=story) == ("written", "gone after sleep", False)


texts = st.sampled_from([TOLD, OTHER, "nothing", *(TOLD.replace(TOKEN, form) for form in CHANGED.values())])
reasons = st.sampled_from(["", "score: low", "out-ranked: six"])
receipts = st.builds(Receipt, st.sampled_from(["ok", "rejected", "deferred"]), texts, reasons)
records = st.builds(StoredRecord, texts, st.sampled_from(get_args(State)))
views = st.builds(
    View,
    st.lists(st.builds(ViewItem, texts), max_size=3).map(tuple),
    st.lists(st.builds(Rejected, texts, reasons), max_size=3).map(tuple),
)


@given(st.lists(receipts, max_size=4), st.lists(records, max_size=4), views, st.booleans())
def test_every_fact_ends_once_and_the_stages_are_monotone(
    told: list[Receipt], held: list[StoredRecord], view: View, used: bool
) -> None:
    got = trace(FACT, Seen(told, held, view), {FACT.name} if used else ())
    assert got.stage in STAGES
    assert (got.lost == "") == (got.stage == "used")
    in_view = any(TOKEN in item.text for item in view.items)
    assert (got.stage in ("admitted", "used")) == in_view
    assert not got.corrupted or not in_view
    if got.stage == "written":
        assert any(TOKEN in r.text for r in (*told, *held))
    # what comes later in the way can only carry a fact farther
    fuller = View((*view.items, ViewItem(TOLD)), view.rejected)
    assert _reached(trace(FACT, Seen(told, held, fuller), ())) >= _reached(trace(FACT, Seen(told, held, view), ()))


@given(st.lists(receipts, max_size=4), views)
def test_what_cannot_be_listed_is_unknown_and_never_lost(told: list[Receipt], view: View) -> None:
    got = trace(FACT, Seen(told, Unlisted("no listing"), view), ())
    if got.stage in ("injected", "written") and not got.lost.startswith("rejected: "):
        assert got.lost == "unknown: no listing"
    if any(r.status == "ok" and TOKEN in r.text for r in told):
        assert got.stage != "injected"


def _reached(found: Trace) -> int:
    return STAGES.index(found.stage)


@given(st.text("0123456789abcdef", min_size=12, max_size=12), st.integers(0, 14), st.sampled_from("xyz-"))
def test_any_single_edit_is_found(tail: str, at: int, new: str) -> None:
    token = f"bm-{tail}"
    for form in (token[:at] + new + token[at + 1 :], token[:at] + token[at + 1 :], token[:at] + new + token[at:]):
        assert near(token, [f"say {form} twice"])


def test_two_thousand_records_are_looked_through_fast() -> None:
    draw = random.Random(7)
    words = ["the", "box", "desk", "says", "that", "labels", "carry", "marks", "since", "monday"]
    held = [
        StoredRecord(" ".join(draw.choices(words, k=60)) + f" bm-{draw.getrandbits(48):012x}") for _ in range(2_000)
    ]
    found = Seen((), held, View((), tuple(Rejected(r.text, "score: low") for r in held)))
    begun = time.process_time()
    ends = [trace(Tracer(f"f{n}", f"bm-{draw.getrandbits(48):012x}", "governing"), found, ()) for n in range(20)]
    assert time.process_time() - begun < 2.0
    assert {end.lost for end in ends} == {"not written"}
