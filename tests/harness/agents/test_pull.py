"""Pull delivery outside: a memory is read in the thread that opened it, and what was shown is kept."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from containers.relay import Unanswered
from harness.agents.pull import CALLS, PULL_INSTRUCTION, Pull, Shown
from memory_probe.protocol import View
from memory_probe.render import HEADING, render

from .pull_kit import DAY, VIEW, Reads


def body(query: object) -> bytes:
    return json.dumps({"query": query}).encode()


def test_it_is_read_by_the_thread_that_opened_it_and_what_was_shown_is_kept() -> None:
    reads = Reads()
    pull = Pull(reads, DAY)
    with ThreadPoolExecutor(4) as others:
        found = pull.during(lambda: list(others.map(pull, map(body, ["a", "b", "c", "d"]))))
    assert found == [render(VIEW, DAY).encode()] * 4
    assert sorted(query for query, _ in reads.asked) == ["a", "b", "c", "d"]
    assert {thread for _, thread in reads.asked} == {threading.get_ident()}
    assert pull.shown == tuple(Shown(query, VIEW) for query, _ in reads.asked)
    assert pull.local().calls == CALLS


@pytest.mark.parametrize(
    "asked",
    [
        *(b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000),
        *(b'{"query": 5}', b'{"query": ["a"]}', b'{"q": "a"}', b'{"query": "\\ud800"}'),
        *(body(" "), body("a\0b")),
    ],
)
def test_what_is_no_question_is_not_asked(asked: bytes) -> None:
    reads = Reads()
    pull = Pull(reads, DAY)

    def work() -> str:
        with pytest.raises(Unanswered) as raised:
            pull(asked)
        return str(raised.value)

    assert pull.during(work) in (
        'a search is a JSON object with a text named "query"',
        "a query is a text with words in it",
    )
    assert (reads.asked, pull.shown) == ([], ())


def test_before_and_after_its_session_it_is_closed() -> None:
    pull = Pull(Reads(), DAY)
    for _ in range(2):
        with pytest.raises(Unanswered, match="closed"):
            pull(body("a"))
        assert pull.during(lambda: 5) == 5


def test_a_memory_that_breaks_is_told_when_the_session_is_over() -> None:
    def broken(query: str) -> View:
        raise LookupError(query)

    pull, ended = Pull(broken, DAY), list[str]()

    def work() -> None:
        for query in ("first", "second"):
            with pytest.raises(Unanswered, match="no answer"):
                pull(body(query))
        ended.append("in its own time")

    with pytest.raises(LookupError, match="first"):
        pull.during(work)
    assert ended == ["in its own time"]
    assert pull.shown == ()


def test_what_the_session_raises_is_raised() -> None:
    def work() -> None:
        raise KeyError("session")

    with pytest.raises(KeyError, match="session"):
        Pull(Reads(), DAY).during(work)


def test_an_interrupt_leaves_nobody_waiting() -> None:
    def interrupted(query: str) -> View:
        raise KeyboardInterrupt

    pull, told = Pull(interrupted, DAY), list[str]()

    def work() -> None:
        for query in ("a", "b"):
            with pytest.raises(Unanswered) as raised:
                pull(body(query))
            told.append(str(raised.value))

    with pytest.raises(KeyboardInterrupt):
        pull.during(work)
    assert told == ["the memory gives no answer", "the memory is closed"]


def test_the_instruction_is_a_constant_that_begins_as_the_notes_do() -> None:
    assert PULL_INSTRUCTION.startswith(f"{HEADING}\n\n")
    assert PULL_INSTRUCTION.endswith("There may be none.\n")
    assert re.search("`search`.*`memory`", PULL_INSTRUCTION)
