"""Shared work: once a key, never after a failure, also across threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.once import Once


def test_threads_share_one_making() -> None:
    once: Once[int] = Once()
    made: list[int] = []
    gate = threading.Barrier(4)

    def ask() -> tuple[int, bool]:
        gate.wait()
        return once.get("key", lambda: made.append(1) or 7)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ask(), range(4)))
    assert made == [1]
    assert sorted(answers) == [(7, False), (7, True), (7, True), (7, True)]


def test_other_keys_are_made_apart() -> None:
    once: Once[str] = Once()
    assert once.get(("a", 1), lambda: "x") == ("x", False)
    assert once.get(("a", 2), lambda: "y") == ("y", False)


def test_a_failure_is_not_kept() -> None:
    once: Once[int] = Once()
    with pytest.raises(ZeroDivisionError):
        once.get("key", lambda: 1 // 0)
    assert once.get("key", lambda: 3) == (3, False)
