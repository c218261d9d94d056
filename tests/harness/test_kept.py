"""What is checked of notes that an agent keeps is what the harness does with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import items, kept
from harness.config import RunConfig
from harness.draw import draw_one
from harness.plan import select
from harness.records import SessionRecord
from harness.snapshot import EXECUTABLE, LINK, REGULAR, Entry, from_tar, to_tar
from memory_probe.files import FilesMemory, debrief

from .spending_kit import session

NAMES = st.sampled_from(
    [b"notes.md", b"a/b.md", b"a/c/d", "gr\u00fc\u00dfe".encode(), "x\ufffd".encode(), b"\xff.md", b"sp ace"]
)
LEFT = st.dictionaries(
    NAMES, st.builds(Entry, st.sampled_from([REGULAR, EXECUTABLE, LINK]), st.binary(max_size=20)), max_size=5
)


@given(LEFT)
@settings(max_examples=60, deadline=None)
def test_what_is_handed_on_is_what_the_memory_keeps_of_it(tmp_path_factory: object, left: dict[bytes, Entry]) -> None:
    """`Bank.keep` and `Bank.directory`, without their arm."""
    folder: Path = tmp_path_factory.mktemp("files")  # type: ignore[attr-defined]
    memory = FilesMemory(folder)
    named = {path.decode("utf-8", "replace"): entry for path, entry in left.items() if entry.mode != LINK}
    memory.replace({name: entry.data for name, entry in named.items() if "\ufffd" not in name})
    tar = to_tar({name.encode(): Entry(REGULAR, data) for name, data in memory.directory.items()})
    assert kept.carried(kept.handed_on(left)) == tar
    assert from_tar(tar)[0] == kept.handed_on(left)
    assert kept.size(kept.handed_on(left)) == sum(map(len, memory.directory.values()))


@pytest.mark.long
def test_every_further_turn_of_our_traps_is_made_again_without_a_template_engine() -> None:
    config = RunConfig()
    turns = 0
    for trap in select(config, config.cache_dir).values():
        draw = draw_one(trap)
        for history in trap.spec.history:
            for number in (1, 2):
                told = [items.note(trap, event, draw) for event in trap.events(history.name, number)]
                assert kept.due(trap, history.name, number) == bool(told)
                assert kept.debrief_prompt(trap, history.name, number, draw) == debrief(told)
                turns += bool(told)
    assert turns > 100


def test_a_session_finds_the_notes_of_the_one_before_and_s3_those_of_s2() -> None:
    def of(number: int, reader: str = "") -> SessionRecord:
        return session(None, number=number).model_copy(update={"reader": reader})

    all_ = [of(1), of(1, "debrief"), of(2), of(2, "debrief"), of(3, "careful"), of(3, "credulous")]
    before = [None if old is None else all_.index(old) for _, old in kept.chain(all_)]
    assert before == [None, 0, 1, 2, 3, 3]
    assert [s.reader for s in kept.work(all_)] == ["", "", "careful", "credulous"]
