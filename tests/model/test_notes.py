"""A session's prompt is found in a request exactly as it was sent, however an agent put it there."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_probe.protocol import Scope, View, ViewItem

from .script import Message, Seen
from .work import TrapWork
from .work_kit import FOLDERS, loaded, prompt_of, seen, worker

DAY = dt.date(2026, 3, 9)

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=80)
WORD = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8)
ITEMS = st.builds(
    ViewItem,
    TEXT | st.sampled_from(['"a" and \\"b\\"', "a\n\n    b\n[2] c\n", "ends in \\", "[1] x", "# Notes\r\ny"]),
    st.none() | st.just(DAY),
    st.none() | st.just("lesson"),
    st.builds(Scope, st.lists(WORD, max_size=2).map(tuple)),
)
VIEWS = st.lists(ITEMS, max_size=4).map(lambda found: View(tuple(found)))
BEFORE = st.sampled_from(["", "Solve this task:\n", "<task>", "# Notes from earlier sessions\n\nNone.\n\n"])
AFTER = st.sampled_from(["", "\n\nBegin.", "</task>", "\n[1] Look around.\n    ls\n"])
SESSIONS = st.sampled_from([(name, step) for name in FOLDERS for step in (1, 2, 3)])


def quoted(prompt: str) -> str:
    return '"' + prompt.replace('"', '\\"') + '"\n'


WRAPS: dict[str, Callable[[str], str]] = {
    "plain": lambda prompt: prompt,
    "json": lambda prompt: json.dumps({"task": prompt}),
    "json with letters": lambda prompt: json.dumps({"task": prompt}, ensure_ascii=False),
    "a quoted word": quoted,
    "stripped": str.strip,
}


@pytest.mark.parametrize("wrap", WRAPS)
@given(session=SESSIONS, view=VIEWS, before=BEFORE, after=AFTER)
@settings(max_examples=60, deadline=None)
def test_the_prompt_is_found_as_it_was_sent(
    wrap: str, session: tuple[str, int], view: View, before: str, after: str
) -> None:
    name, step = session
    prompt = prompt_of(loaded(name), step, view)
    if wrap == "stripped":  # what ends in white space loses it by that, and a last note runs into what follows it
        prompt = prompt.rstrip() + "\n"
        after = after if after.startswith("\n") or not view.items else ""
    if after.startswith("\n[1]") and not view.items:
        after = ""  # that would be an item
    found = worker().find(seen("Be brief.", before + WRAPS[wrap](prompt) + after))
    assert found is not None
    assert (found.case.step, found.case.playbook) == (f"s{step}", loaded(name).playbook.decode())
    assert found.prompt == prompt
    assert not found.pull


@given(session=SESSIONS, view=VIEWS)
@settings(max_examples=30, deadline=None)
def test_line_ends_and_parts_do_not_hide_it(session: tuple[str, int], view: View) -> None:
    name, step = session
    view = View(tuple(i for i in view.items if "\r" not in i.text))
    prompt = prompt_of(loaded(name), step, view)
    text, mark, section = prompt.partition("# Notes")
    windows = worker().find(seen(prompt.replace("\n", "\r\n")))
    parts = worker().find(seen("\n".join([text, mark + section])))
    messages = worker().find(seen(text, mark + section))
    lines = worker().find(seen("\n\n\n".join(text.rstrip().split("\n")) + "\n\n" + mark + section))
    for found in (windows, parts, messages, lines):
        assert found is not None
        assert found.prompt == prompt


def test_the_system_text_may_hold_it_and_an_assistant_may_not() -> None:
    prompt = prompt_of(loaded("c1_label"), 1, View())
    found = worker().find(seen("Begin.", system=f"Your task: {prompt}"))
    assert found is not None
    assert found.prompt == prompt
    quiet = Seen("chat", "", (Message("user", "Hello"), Message("assistant", prompt), Message("tool", prompt)), (), 1)
    assert worker().find(quiet) is None


def test_a_prompt_among_the_notes_is_not_the_sessions() -> None:
    """A memory may give back the prompt of an earlier session, also a longer one."""
    trap = loaded("c1_plan_shelf")
    earlier = trap.texts[trap.spec.session[0].prompt].rstrip()
    prompt = prompt_of(loaded("c1_label"), 1, View((ViewItem(earlier), ViewItem(loaded("c1_label").texts["s3.md"]))))
    found = worker().find(seen(prompt))
    assert found is not None
    assert (found.case.step, found.prompt) == ("s1", prompt)
    assert found.case.playbook == loaded("c1_label").playbook.decode()


def test_a_prompt_without_a_section_is_found_bare() -> None:
    text = loaded("c1_label").texts["s2.md"].rstrip()
    found = worker().find(seen(f"Do this: {text} Thank you."))
    assert found is not None
    assert found.prompt == f"{text}\n"


def test_sessions_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="same prompt"):
        TrapWork({"a": loaded("c1_label"), "b": loaded("c1_label")})
