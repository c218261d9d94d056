"""The extractive writer takes whole lines, in order, within its words, and returns the rest."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory_probe.protocol import count_tokens
from memory_probe.writer import LIMIT, extract

LINES = st.lists(st.text("ab \u00e9\r", max_size=12), max_size=8).map("\n".join)


def lines(text: str) -> list[str]:
    found = text.split("\n")
    return [line for line in found if line.strip()]


@given(st.lists(LINES, max_size=5), st.integers(0, 12))
def test_every_line_is_taken_or_returned_byte_for_byte(sources: list[str], limit: int) -> None:
    written = extract(sources, limit)
    assert written.size == count_tokens(written.text) <= limit
    told = Counter(line for source in sources for line in lines(source))
    taken = Counter(line for text in written.taken for line in lines(text))
    left = Counter(line for rejected in written.dropped for line in lines(rejected.text))
    assert taken + left == told
    assert all(rejected.why for rejected in written.dropped)
    assert extract(sources, limit) == written


def test_what_fits_is_taken_whole_with_its_line_ends() -> None:
    sources = ["code:\r\n\r\n\tx = 1  \r\n", "  ν \n\n\n end"]
    assert extract(sources).taken == tuple(sources)
    assert extract(sources).dropped == ()


def test_a_line_is_never_cut_and_a_later_one_that_fits_is_taken() -> None:
    source = f"short one\n{'long ' * 9}\nshort two"
    written = extract([source], 4)
    assert written.taken == ("short one\nshort two",)
    assert [r.text for r in written.dropped] == [f"{'long ' * 9}\n"]
    assert "over 4 words" in written.dropped[0].why


def test_earlier_sources_come_first_and_take_the_room() -> None:
    written = extract(["one " * 200, "two " * 60, "three " * 40])
    assert written.taken == ("one " * 200, "three " * 40)
    assert written.size == 240 <= LIMIT
    assert [r.text for r in written.dropped] == ["two " * 60]


def test_text_of_20_000_characters_is_taken_if_it_is_one_word() -> None:
    assert extract(["x" * 20_000]).text == "x" * 20_000
