"""Copies of one frozen store: opened quickly, apart from each other, and never taken for what they are not."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_probe.probe import ProbeMemory
from memory_probe.protocol import MemoryFault
from memory_probe.store import derived
from memory_probe.store.bases import Bases
from memory_probe.store.schema import FILE
from memory_probe.store.view import StoreView

from .probe_kit import CARD, NOW, QUERY, WIDE, episode, made, note, problems, shown, states, variant

_OURS = tuple(f"memory_probe.store.{name}" for name in ("view", "columns", "index"))
HYBRID = variant("DF-hybrid")


def opened(folder: Path, bases: Bases | None) -> ProbeMemory:
    return ProbeMemory(CARD, HYBRID, folder, bases)


def lives(memory: ProbeMemory, first: int, count: int) -> None:
    """Sessions with notes that replace, rank and go stale."""
    for number in range(first, first + count):
        notes = [note(f"Note AB-{1000 + number} by the desk: mail goes to `m-{number}`.", number)]
        if number % 3 == 2:
            notes.append(note(f"Note CD-{number + 1000}. This replaces AB-{999 + number}.", number, "staleness"))
        if number % 4 == 3:
            notes.append(note("The desk takes precedence over the crew.", number, author="crew", symbols=("a.b",)))
        memory.read(QUERY, WIDE)
        memory.record(episode(*notes, day=number, passed=number % 4 != 0))
        memory.sleep(notes[-1].date)


@pytest.fixture
def image(tmp_path: Path) -> tuple[Bases, bytes]:
    bases = Bases()
    memory = opened(tmp_path / "source", bases)
    lives(memory, 0, 8)
    data = memory.freeze()[FILE]
    lives(memory, 50, 2)  # what the source lives on is not in the image
    memory.close()
    return bases, data


def copied(folder: Path, data: bytes) -> Path:
    folder.mkdir()
    (folder / FILE).write_bytes(data)
    return folder


def plain(value: Any) -> Any:
    """All that a view holds, comparable."""
    if isinstance(value, StoreView) or type(value).__module__ in ("memory_probe.store.columns",):
        return {k: plain(v) for k, v in vars(value).items() if k != "_numbers"}
    if hasattr(value, "holding"):
        words = {*value._before, *value._since}
        return plain(value._shared), {w: list(value._holders(w)) for w in words}, list(value._sizes)
    if type(value).__module__ == "memory_probe.store.index":
        return {k: plain(v) for k, v in vars(value).items()}
    return {k: v for k, v in value.items() if v} if isinstance(value, dict) else value


def same(one: StoreView, other: StoreView) -> bool:
    numbers = ((c.columns[n].tolist() for n in c.columns._numbers) for c in (one, other))
    return plain(one) == plain(other) and [*next(numbers)] == [*next(numbers)]


def test_a_copy_is_opened_without_reading_it_and_says_the_same(
    image: tuple[Bases, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases, data = image
    read = opened(copied(tmp_path / "read", data), None)
    with monkeypatch.context() as patch:
        patch.setattr(derived, "load", lambda connection: pytest.fail("the rows were read"))
        quick = opened(copied(tmp_path / "quick", data), bases)
    assert same(quick._derived.view, read._derived.view)
    assert (shown(quick), states(quick)) == (shown(read), states(read))
    for memory in (quick, read):
        lives(memory, 8, 5)
    assert same(quick._derived.view, read._derived.view)
    assert quick.freeze() == read.freeze()
    assert quick.read(QUERY, WIDE) == read.read(QUERY, WIDE)
    assert problems(tmp_path / "quick") == []


def test_what_one_copy_writes_no_other_sees(image: tuple[Bases, bytes], tmp_path: Path) -> None:
    bases, data = image
    one, two = (opened(copied(tmp_path / name, data), bases) for name in ("one", "two"))
    before = states(two)
    lives(one, 8, 4)
    one.forget(1, "not wanted", NOW)
    three = opened(copied(tmp_path / "three", data), bases)
    assert states(two) == states(three) == before
    assert shown(two) == shown(three)
    read = opened(copied(tmp_path / "read", data), None)
    assert same(two._derived.view, read._derived.view)
    assert same(three._derived.view, read._derived.view)
    assert len(states(one)) > len(before)
    two.record(episode(note("only two is told this"), day=9))
    two.sleep(NOW)
    assert "only two is told this" not in {**states(one), **states(three)}


def containers(value: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """(where, identity) of everything below a view that can be changed in place."""
    if isinstance(value, list | dict | set | array | np.ndarray):
        yield path, id(value)
    inner: Any = vars(value).items() if type(value).__module__ in _OURS else ()
    if isinstance(value, dict):
        inner = value.items()
    for name, each in inner:
        if name != "_before":  # never changed, so it may be shared
            yield from containers(each, f"{path}.{name}")


def test_a_fork_shares_nothing_that_can_be_changed(tmp_path: Path) -> None:
    memory = opened(tmp_path, None)
    lives(memory, 0, 8)
    view = memory._derived.view
    mine, forks = dict(containers(view)), dict(containers(view.fork()))
    assert mine.keys() - forks.keys() == {k for k in mine if "._since." in k}
    assert {"._memories", ".columns.words._sizes", ".columns.files._plain.src/mail.py"} <= forks.keys()
    assert any(k.startswith(".rivals.") for k in forks)
    assert any(k.startswith(".superseders.") for k in forks)
    assert any(k.startswith(".columns.symbols._within.") for k in forks)
    assert not set(mine.values()) & set(forks.values())
    assert same(view, view.fork())
    assert same(view, view.fork().fork())


def test_a_damaged_copy_is_a_fault(image: tuple[Bases, bytes], tmp_path: Path) -> None:
    bases, data = image
    place = data.rindex(b"Note AB-1003 by the desk")
    for name, damaged in {
        "a byte": data[: place + 6] + b"X" + data[place + 7 :],
        "cut": data[: len(data) // 2],
        "empty": b"",
    }.items():
        with pytest.raises(MemoryFault):
            opened(copied(tmp_path / name, damaged), bases)


def test_a_store_of_another_variant_is_refused_though_its_bytes_are_known(
    image: tuple[Bases, bytes], tmp_path: Path
) -> None:
    bases, data = image
    with pytest.raises(MemoryFault, match="opened as"):
        ProbeMemory(CARD, variant(), copied(tmp_path / "other", data), bases)


def test_a_copy_that_was_written_to_is_read(image: tuple[Bases, bytes], tmp_path: Path) -> None:
    bases, data = image
    folder = copied(tmp_path / "arm", data)
    first = opened(folder, bases)
    lives(first, 8, 2)
    second = opened(folder, bases)  # a log lies beside the file
    assert states(second) == states(first)
    second.close()
    first.close()
    assert states(opened(folder, bases)) == states(made(folder, HYBRID))


def test_the_oldest_bases_are_forgotten(tmp_path: Path) -> None:
    bases, datas = Bases(most=6), []
    for number in range(3):
        memory = opened(tmp_path / f"source{number}", bases)
        lives(memory, number, 2)
        datas.append(memory.freeze()[FILE])
    found = [bases.find(copied(tmp_path / f"copy{n}", data) / FILE) is not None for n, data in enumerate(datas)]
    assert found == [False, False, True]
    assert shown(opened(tmp_path / "copy0", bases)) == shown(made(tmp_path / "source0", HYBRID))
