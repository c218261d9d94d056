"""The line store gives back what it was given, or raises."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_probe.lines import Lines, Row
from memory_probe.protocol import MemoryFault


def text_of(row: Row) -> str:
    return str(row["text"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.text(st.characters()), max_size=3), max_size=4))
def test_any_text_comes_back_in_order_whatever_the_batches(batches: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = Lines(Path(folder), "a.jsonl")
        for batch in batches:
            lines.append([{"text": text} for text in batch])
        assert Lines(Path(folder), "a.jsonl").load(text_of) == [text for batch in batches for text in batch]


def test_a_lone_surrogate_comes_back(tmp_path: Path) -> None:
    lines = Lines(tmp_path, "a.jsonl")
    lines.append([{"text": "a\ud800b"}])
    assert lines.load(text_of) == ["a\ud800b"]


def test_every_changed_byte_is_a_fault(tmp_path: Path) -> None:
    lines = Lines(tmp_path, "a.jsonl")
    lines.append([{"text": "mail"}, {"text": "post"}])
    path = tmp_path / "a.jsonl"
    good = path.read_bytes()
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(MemoryFault, match=r"a\.jsonl line [123]"):
            lines.load(text_of)
        with pytest.raises(MemoryFault):
            lines.append([{"text": "more"}])
        with pytest.raises(MemoryFault):
            lines.freeze()


@pytest.mark.parametrize("keep", [b"2", b"13", b"21"])
def test_a_missing_or_moved_line_is_a_fault(keep: bytes, tmp_path: Path) -> None:
    lines = Lines(tmp_path, "a.jsonl")
    lines.append([{"text": str(n)} for n in range(3)])
    path = tmp_path / "a.jsonl"
    found = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(found[int(chr(n)) - 1] for n in keep))
    with pytest.raises(MemoryFault):
        lines.load(text_of)


def test_a_torn_line_is_a_fault(tmp_path: Path) -> None:
    lines = Lines(tmp_path, "a.jsonl")
    lines.append([{"text": "mail"}])
    path = tmp_path / "a.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(MemoryFault, match="no end"):
        lines.load(text_of)


def test_a_row_of_another_shape_is_a_fault(tmp_path: Path) -> None:
    lines = Lines(tmp_path, "a.jsonl")
    lines.append([{"other": 1}])
    with pytest.raises(MemoryFault, match="line 1: KeyError"):
        lines.load(text_of)


def test_appending_does_not_walk_the_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines(tmp_path, "a.jsonl")
    assert lines.last(text_of) is None
    lines.append([{"text": "first"}])
    with monkeypatch.context() as patch:
        patch.setattr(lines, "_walk", lambda: pytest.fail("walked"))
        for number in range(50):
            lines.append([{"text": str(number)}, {"text": f"{number}!"}])
            assert lines.last(text_of) == f"{number}!"
        lines.append([])
    assert Lines(tmp_path, "a.jsonl").load(text_of)[-2:] == ["49", "49!"]


def test_two_writers_take_turns(tmp_path: Path) -> None:
    one, two = Lines(tmp_path, "a.jsonl"), Lines(tmp_path, "a.jsonl")
    for number in range(6):
        (one, two)[number % 2].append([{"text": str(number)}])
        assert one.last(text_of) == two.last(text_of) == str(number)
    assert one.load(text_of) == list("012345")


def test_appending_to_a_file_that_another_tore_is_a_fault(tmp_path: Path) -> None:
    lines, path = Lines(tmp_path, "a.jsonl"), tmp_path / "a.jsonl"
    lines.append([{"text": "mail"}])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(MemoryFault, match="no end"):
        lines.append([{"text": "more"}])
    path.unlink()
    lines.append([{"text": "anew"}])
    assert lines.load(text_of) == ["anew"]
